#include "carry/webhook/outcome.hpp"

#include "app/dispatch/work_store.hpp"
#include "base/escaped_text.hpp"
#include "carry/webhook/retry_after.hpp"

namespace sluice::webhook {
namespace {

using Kind = Delivery::Kind;

Kind kind_of(unsigned status) {
    constexpr unsigned kRequestTimeout = 408;
    constexpr unsigned kGone = 410;
    constexpr unsigned kTooEarly = 425;
    constexpr unsigned kTooManyRequests = 429;
    if (status >= 200 && status < 300) {
        return Kind::Done;
    }
    if (status == kGone) {
        return Kind::Gone;
    }
    const bool heals = status == kRequestTimeout || status == kTooEarly || status == kTooManyRequests;
    return status >= 400 && status < 500 && !heals ? Kind::Refused : Kind::Failed;
}

std::string error_of(unsigned status) {
    std::string sentence = "The endpoint answered with status " + std::to_string(status);
    if (status >= 300 && status < 400) {
        sentence += "; redirects are not followed";
    }
    return sentence + ".";
}

Kind kind_of(net::HttpFault::Kind fault) {
    switch (fault) {
        case net::HttpFault::Kind::Withheld: return Kind::NotSent;
        // Neither the name's owner nor the request will change by being asked again.
        case net::HttpFault::Kind::AddressRefused:
        case net::HttpFault::Kind::BadRequest: return Kind::Refused;
        default: return Kind::Failed;
    }
}

}  // namespace

Delivery delivery_of(const net::HttpOutcome& outcome, Instant now) {
    Delivery delivery;
    if (!outcome) {
        delivery.kind = kind_of(outcome.error().kind);
        delivery.error = outcome.error().sentence;
        return delivery;
    }
    delivery.kind = kind_of(outcome->status);
    delivery.status = outcome->status;
    append_escaped(delivery.excerpt, outcome->body, kExcerptMax);
    if (delivery.kind != Kind::Done) {
        delivery.error = error_of(outcome->status);
    }
    if (delivery.kind == Kind::Failed) {
        delivery.retry_after = parse_retry_after(outcome->header("Retry-After"), now);
    }
    return delivery;
}

}  // namespace sluice::webhook
