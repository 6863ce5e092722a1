#include "main/bench_check.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "base/json_text.hpp"
#include "main/bench_run.hpp"

namespace sluice {
namespace {

constexpr unsigned kDenied = 429;

// The requests differ in the key only; keys take turns.
class RequestWriter {
public:
    RequestWriter(const Invocation& invocation, const net::HostPort& server)
        : host_{server.text()}, keys_{std::stoull(invocation.value("keys"))} {
        JsonObject rest;
        rest.raw("plans", json_list(invocation.value("plan")));
        rest.number("tokens", std::stoll(invocation.value("tokens")));
        const std::string quoted = json_string(invocation.value("prefix"));
        front_ = "{\"key\":" + quoted.substr(0, quoted.size() - 1);
        back_ = "\"," + rest.done().substr(1);
    }

    void operator()(std::uint64_t number, std::string& request) const {
        const fmt::format_int digits{number % keys_};
        const std::size_t size = front_.size() + digits.size() + back_.size();
        request.clear();
        fmt::format_to(std::back_inserter(request),
                       "POST /api/v1/check HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n"
                       "Content-Length: {}\r\n\r\n",
                       host_, size);
        request.append(front_).append(digits.data(), digits.size()).append(back_);
    }

private:
    std::string host_;
    std::uint64_t keys_;
    std::string front_;
    std::string back_;
};

}  // namespace

ExitCode bench_check(const Invocation& invocation, std::ostream& out, std::ostream& progress) {
    const auto server = called_server(invocation);
    if (!server) {
        return fail(progress, ExitCode::Usage, server.error());
    }
    auto plan = read_load_plan(invocation, *server);
    if (!plan) {
        return fail(progress, ExitCode::Usage, plan.error());
    }
    if (std::stoull(invocation.value("keys")) == 0) {
        return fail(progress, ExitCode::Usage, "--keys must be above 0.");
    }
    plan->write_request = RequestWriter{invocation, plan->server.address};
    plan->also_good = kDenied;
    return run_bench(invocation, *plan, "checks", {out, progress});
}

}  // namespace sluice
