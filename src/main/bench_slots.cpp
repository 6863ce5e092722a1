#include "main/bench_slots.hpp"

#include <ostream>

#include <fmt/format.h>

#include "base/iso8601.hpp"
#include "main/bench_run.hpp"
#include "main/json_text.hpp"

namespace sluice {
namespace {

// The requests differ in the event's number only.
class RequestWriter {
public:
    RequestWriter(const Invocation& invocation, const HostPort& server) : host_{server.text()} {
        const Instant now = SystemClock{}.now();
        const std::string prefix = invocation.has("prefix")
                                       ? invocation.value("prefix")
                                       : fmt::format("bench-{}-", now.time_since_epoch().count());
        JsonObject rest;
        rest.text("requestedTime", invocation.has("at") ? invocation.value("at") : format_instant(now));
        if (invocation.has("config-name")) {
            rest.text("configName", invocation.value("config-name"));
        }
        // {"eventId":"prefix + number + ","requestedTime":...}
        const std::string quoted = json_string(prefix);
        front_ = "{\"eventId\":" + quoted.substr(0, quoted.size() - 1);
        back_ = "\"," + rest.done().substr(1);
    }

    void operator()(std::uint64_t number, std::string& request) const {
        const fmt::format_int digits{number};
        const std::size_t size = front_.size() + digits.size() + back_.size();
        request.clear();
        fmt::format_to(std::back_inserter(request),
                       "POST /api/v1/slots HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n"
                       "Content-Length: {}\r\n\r\n",
                       host_, size);
        request.append(front_).append(digits.data(), digits.size()).append(back_);
    }

private:
    std::string host_;
    std::string front_;
    std::string back_;
};

}  // namespace

ExitCode bench_slots(const Invocation& invocation, std::ostream& out, std::ostream& progress) {
    auto plan = read_load_plan(invocation);
    if (!plan) {
        return bench_failed(progress, ExitCode::Usage, plan.error());
    }
    plan->write_request = RequestWriter{invocation, plan->server};
    return run_bench(invocation, *plan, "slots", {out, progress});
}

}  // namespace sluice
