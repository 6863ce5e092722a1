#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/dispatch/carrier.hpp"
#include "base/log.hpp"

namespace sluice {

// How webhooks to some URLs are sent.
struct EndpointSettings {
    // For this URL and all below it: https://a.example/x is for /x and /x/y, not for /xy. The longest counts.
    std::string url_prefix;
    std::vector<std::string> secret_files{};  // None: those of all others.
    // Sent along. A value "file:PATH" is what stands in that file, without white space around it.
    std::vector<std::pair<std::string, std::string>> headers{};
    Duration timeout{15'000};
    std::size_t max_concurrent = 64;
    std::string proxy{};  // Not supported yet: must be empty.
};

struct WebhookOptions {
    std::vector<EndpointSettings> endpoints{};
    std::vector<std::string> secret_files{};  // For URLs that no endpoint has, or one without secrets.
    Duration timeout{15'000};                 // For URLs that no endpoint has.
    std::vector<std::string> allow{};         // Private nets that may be called, as 10.0.0.0/8.
    bool allow_loopback = false;
    std::string authorities{};  // Who vouches for https servers, a file in PEM form. Empty: the system's.
    std::string user_agent = "sluice";
    // The content of a file; fails with the reason alone: "No such file or directory".
    std::function<Result<std::string, std::string>(const std::string& path)> read_file;
};

// Carries work to URLs: a POST of the payload, the same on every try, once for each send(). Its headers:
//   Idempotency-Key    the event's id; of other than visible ASCII, and of %, each byte as %XX
//   Content-Type       application/json, when there is a payload and no header of the endpoint says otherwise
//   webhook-id, webhook-timestamp, webhook-signature   by Standard Webhooks, when there are secrets; one
//                      signature for each, so that a receiver can change from one to the next
//   traceparent        when the work has one
// 2xx is Done, 410 Gone, other 4xx but 408, 425 and 429 Refused, and so is a name that leads to an address
// that must not be called. All else is Failed; redirects are not followed. Retry-After is passed on.
// route() refuses with invalid_target, credentials_in_url or forbidden_address.
// stop() takes at most as long as the longest time-out of those under way.
class WebhookCarrier : public Carrier {
public:
    // Reads the files of secrets and headers again. Fails with one sentence, and goes on with what it has.
    // Thread safety: any thread.
    virtual Result<void, std::string> reload() = 0;
};

// Fails with one sentence that says what is wrong with the options. `log` and `clock` outlive it.
Result<std::unique_ptr<WebhookCarrier>, std::string> open_webhook_carrier(WebhookOptions options, Log& log,
                                                                          const Clock& clock);

}  // namespace sluice
