#include "base/iso8601.hpp"
#include "base/json_text.hpp"
#include "door/http/limit_json.hpp"

namespace sluice::http {
namespace {

constexpr std::int64_t kMillisecond = 1'000;
constexpr std::int64_t kSecond = 1'000'000;

std::string_view reason_text(LimitReason reason) {
    switch (reason) {
        case LimitReason::Ok: return "OK";
        case LimitReason::Denied: return "DENIED";
        case LimitReason::Shadow: return "SHADOW";
        case LimitReason::FailOpen: return "FAIL_OPEN";
        case LimitReason::FailClosed: return "FAIL_CLOSED";
        case LimitReason::Local: return "LOCAL";
        case LimitReason::Contended: return "CONTENDED";
    }
    return "";
}

// How much is left is not known while the store does not answer, or others hold the key.
bool knows_remaining(LimitReason reason) {
    return reason != LimitReason::FailOpen && reason != LimitReason::FailClosed &&
           reason != LimitReason::Contended;
}

void append_number(std::string& json, std::string_view before, std::int64_t number) {
    json += before;
    json += std::to_string(number);
}

void append_field(std::string& json, std::string_view field, std::string_view text) {
    if (!text.empty()) {
        json += ",\"";
        json += field;
        json += "\":";
        append_json_string(json, text);
    }
}

// A plan's name is also a structured field's string: it holds nothing that would need to be escaped.
void append_quoted(std::string& header, const std::string& name) {
    header += '"';
    header += name;
    header += '"';
}

void append_policy(std::string& header, const BookedPlan& booked, Tokens limit) {
    append_quoted(header, booked.plan.name());
    append_number(header, ";q=", limit);
    if (booked.window) {
        append_number(header, ";w=", seconds_up(*booked.window));
    } else if (std::holds_alternative<Concurrency>(booked.plan.rule())) {
        header += ";qu=\"concurrent-requests\"";
    }
}

}  // namespace

std::int64_t milliseconds_up(Wait wait) {
    return divide_up(std::max<std::int64_t>(0, wait.count()), kMillisecond);
}
std::int64_t seconds_up(Wait wait) { return divide_up(std::max<std::int64_t>(0, wait.count()), kSecond); }

void append_answer(std::string& json, const LimitAnswer& answer) {
    json += answer.allowed ? R"({"allowed":true,"plan":")" : R"({"allowed":false,"plan":")";
    json += answer.plan->plan.name();
    append_number(json, R"(","limit":)", answer.limit);
    append_number(json, R"(,"remaining":)", answer.remaining);
    append_number(json, R"(,"retryAfterMs":)", answer.allowed ? 0 : milliseconds_up(answer.retry_after));
    append_number(json, R"(,"resetAfterMs":)", milliseconds_up(answer.reset_after));
    json += R"(,"reason":")";
    json += reason_text(answer.reason);
    json += '"';
    if (answer.lease != LeaseId{}) {
        // As text: a lease has 64 bits, of which many readers of JSON lose some.
        json += R"(,"lease":")" + std::to_string(static_cast<std::uint64_t>(answer.lease)) + '"';
    }
    json += '}';
}

std::string rate_limit_headers(const LimitAnswer& answer, std::span<const std::string_view> plans) {
    std::string headers = "RateLimit-Policy: ";
    bool first = true;
    for (const std::string_view name : plans) {
        const BookedPlan* booked = answer.plans->find(name);
        if (booked == nullptr) {
            continue;
        }
        headers += first ? "" : ", ";
        first = false;
        append_policy(headers, *booked, booked == answer.plan ? answer.limit : booked->plan.limit());
    }
    headers += "\r\n";
    if (knows_remaining(answer.reason)) {
        headers += "RateLimit: ";
        append_quoted(headers, answer.plan->plan.name());
        append_number(headers, ";r=", answer.remaining);
        append_number(headers, ";t=", seconds_up(answer.allowed ? answer.reset_after : answer.retry_after));
        headers += "\r\n";
    }
    if (!answer.allowed) {
        append_number(headers, "Retry-After: ", std::max<std::int64_t>(1, seconds_up(answer.retry_after)));
        headers += "\r\n";
    }
    return headers;
}

void append_plan(std::string& json, const BookedPlan& booked) {
    const PlanDraft& draft = booked.draft;
    json += R"({"name":")" + draft.name + '"';
    append_field(json, "algorithm", draft.algorithm);
    append_number(json, R"(,"capacity":)", booked.plan.limit());
    append_field(json, "refill", draft.refill);
    append_field(json, "window", draft.window);
    append_field(json, "start", draft.start);
    append_field(json, "cooldown", draft.cooldown);
    if (draft.max_per_hour) {
        append_number(json, R"(,"max_per_hour":)", *draft.max_per_hour);
    }
    if (draft.lease) {
        append_number(json, R"(,"lease":)", *draft.lease);
    }
    append_field(json, "on_store_failure", draft.on_store_failure.empty() ? "open" : draft.on_store_failure);
    json += draft.shadow ? R"(,"shadow":true)" : R"(,"shadow":false)";
    append_field(json, "origin", booked.origin == PlanOrigin::File ? "file" : "admin");
    json += '}';
}

std::string standings_json(std::string_view key, const std::vector<KeyStanding>& standings) {
    std::string json = R"({"key":)";
    append_json_string(json, key);
    json += R"(,"plans":[)";
    for (const auto& [booked, standing] : standings) {
        json += json.back() == '[' ? "" : ",";
        json += R"({"plan":")" + booked->plan.name() + '"';
        json += standing.allowed ? R"(,"allowed":true)" : R"(,"allowed":false)";
        append_number(json, R"(,"limit":)", standing.limit);
        append_number(json, R"(,"remaining":)", standing.remaining);
        append_number(json, R"(,"retryAfterMs":)", milliseconds_up(standing.retry_after));
        append_number(json, R"(,"resetAfterMs":)", milliseconds_up(standing.reset_after));
        append_number(json, R"(,"planLimit":)", booked->plan.limit());
        if (standing.override_until) {
            append_field(json, "overrideUntil",
                         format_instant(std::chrono::floor<Duration>(*standing.override_until)));
        }
        json += '}';
    }
    return json + "]}";
}

}  // namespace sluice::http
