#include "main/bench_slots.hpp"

#include <ostream>

#include <fmt/format.h>

#include "base/iso8601.hpp"
#include "main/bench_run.hpp"
#include "main/human_output.hpp"
#include "main/json_text.hpp"

namespace sluice {
namespace {

// The requests differ in the event's number only.
class RequestWriter {
public:
    RequestWriter(const Invocation& invocation, const net::HostPort& server, const std::string& config)
        : host_{server.text()} {
        const std::string prefix = invocation.has("prefix") ? invocation.value("prefix") : config + "-";
        JsonObject rest;
        rest.text("requestedTime",
                  invocation.has("at") ? invocation.value("at") : format_instant(SystemClock{}.now()));
        rest.text("configName", config);
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

// Makes the config that the run asks under. Its pool is its own, so no one else's windows fill.
Result<net::HttpResponse, NoAnswer> make_config(const Invocation& invocation, const CalledServer& server,
                                                const std::string& name) {
    JsonObject body;
    body.text("configName", name)
        .number("maxPerWindow", std::stoll(invocation.value("max-per-window")))
        .text("windowSize", invocation.value("window-size"))
        .text("pool", name);
    return server.send({"POST", "/admin/rate-limit/config", body.done()});
}

}  // namespace

ExitCode bench_slots(const Invocation& invocation, std::ostream& out, std::ostream& progress) {
    const auto server = called_server(invocation);
    if (!server) {
        return fail(progress, ExitCode::Usage, server.error());
    }
    auto plan = read_load_plan(invocation, *server);
    if (!plan) {
        return fail(progress, ExitCode::Usage, plan.error());
    }
    const std::string config = fmt::format("bench-{}", SystemClock{}.now().time_since_epoch().count());
    const auto made = make_config(invocation, *server, config);
    if (!made) {
        return fail_unreachable(progress, made.error());
    }
    if (made->status != 200) {
        return fail(progress, ExitCode::Failed, problem_sentence(made->status, made->body));
    }
    progress << "The slots go to config and pool '" << config << "', made for this run ("
             << invocation.value("max-per-window") << " per " << invocation.value("window-size")
             << "): no other window is touched." << std::endl;
    plan->write_request = RequestWriter{invocation, plan->server.address, config};
    return run_bench(invocation, *plan, "slots", {out, progress});
}

}  // namespace sluice
