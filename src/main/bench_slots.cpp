#include "main/bench_slots.hpp"

#include <optional>
#include <ostream>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/iso8601.hpp"
#include "base/json_text.hpp"
#include "main/bench_run.hpp"
#include "main/human_output.hpp"

namespace sluice {
namespace {

namespace json = boost::json;

constexpr std::string_view kPrefix = "bench-";  // Of the names of its configs and events.

// The requests differ in the event's number only.
class RequestWriter {
public:
    RequestWriter(const net::HostPort& server, const std::string& prefix, const JsonObject& rest)
        : host_{server.text()} {
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

bool is_of_a_run(const std::string& name) {
    return name.size() > kPrefix.size() && name.starts_with(kPrefix) &&
           name.find_first_not_of("0123456789", kPrefix.size()) == std::string::npos;
}

// The names of configs that earlier runs have left and that are what this one would make.
std::vector<std::string> configs_left(const Invocation& invocation, const CalledServer& server) {
    const auto listed = server.send({"GET", "/admin/rate-limit/configs"});
    boost::system::error_code error;
    const auto value = listed ? json::parse(listed->body, error) : json::value{};
    const auto* const object = error ? nullptr : value.if_object();
    const auto* const configs = object == nullptr ? nullptr : object->if_contains("configs");
    std::vector<std::string> names;
    for (const json::value& each : configs == nullptr ? json::array{} : configs->as_array()) {
        const std::string config = json::serialize(each);
        const std::string name = json_field(config, "configName");
        const bool is_same = is_of_a_run(name) && json_field(config, "pool") == name &&
                             json_field(config, "maxPerWindow") == invocation.value("max-per-window") &&
                             json_field(config, "windowSize") == invocation.value("window-size") &&
                             json_field(config, "spread") == "random" &&
                             json_field(config, "past") == "asSent" &&
                             json_field(config, "maxLookahead").empty();
        if (is_same) {
            names.push_back(name);
        }
    }
    return names;
}

// Nothing removes a config, so a run takes one of an earlier run where the window that it begins in is empty.
std::optional<std::string> config_to_take_again(const Invocation& invocation, const CalledServer& server,
                                                const std::string& requested_time) {
    const auto from = parse_instant(requested_time);
    if (!from) {
        return std::nullopt;
    }
    const std::string range = "&from=" + net::url_encoded(format_instant(*from)) +
                              "&to=" + net::url_encoded(format_instant(*from + Duration{1}));
    for (const std::string& name : configs_left(invocation, server)) {
        const auto windows =
            server.send({"GET", "/api/v1/windows?configName=" + net::url_encoded(name) + range});
        if (windows && windows->body.find(R"("count":0,)") != std::string::npos) {
            return name;
        }
    }
    return std::nullopt;
}

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
    const std::string run = fmt::format("{}{}", kPrefix, SystemClock{}.now().time_since_epoch().count());
    const std::string requested_time =
        invocation.has("at") ? invocation.value("at") : format_instant(SystemClock{}.now());
    const auto left = config_to_take_again(invocation, *server, requested_time);
    const std::string config = left.value_or(run);
    if (!left) {
        const auto made = make_config(invocation, *server, config);
        if (!made) {
            return fail_unreachable(progress, made.error());
        }
        if (made->status != 200) {
            return fail(progress, ExitCode::Failed, problem_sentence(made->status, made->body));
        }
    }
    progress << "The slots go to config and pool '" << config << "', "
             << (left ? "left by an earlier run" : "made for this run") << " ("
             << invocation.value("max-per-window") << " per " << invocation.value("window-size")
             << "): no other window is touched." << std::endl;
    const std::string prefix = invocation.has("prefix") ? invocation.value("prefix") : run + "-";
    plan->write_request =
        RequestWriter{plan->server.address, prefix,
                      JsonObject{}.text("requestedTime", requested_time).text("configName", config)};
    const ExitCode ending = run_bench(invocation, *plan, "slots", {out, progress});
    progress << "The config and its slots stay. A later run takes the config again, once it finds its "
                "windows empty."
             << std::endl;
    return ending;
}

}  // namespace sluice
