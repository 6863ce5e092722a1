#include "door/http/await_done.hpp"
#include "door/http/handlers.hpp"
#include "door/http/json_body.hpp"
#include "door/http/target.hpp"

namespace sluice::http {
namespace {

using Configs = std::vector<ConfigVersion>;

// The config that a query names; without a name, the default one.
Result<ConfigName, Problem> named_config(const ServerWorld& world, const Request& request) {
    const auto target = parse_target(request.target);
    if (!target) {
        return Unexpected{Problem{400, "malformed_request", "The query cannot be read."}};
    }
    const auto name = target->parameter("name");
    return name ? read_config_name(*name) : Result<ConfigName, Problem>{world.default_config};
}

// What is wrong with limits; empty when nothing is.
std::string_view limits_trouble(const ServerWorld& world) {
    if (!world.limits.servers().all_answer()) {
        return "store_unavailable";
    }
    return world.limits.plans().current()->file_error().empty() ? "" : "plans_refused";
}

}  // namespace

void audit(const ServerWorld& world, const Request& request, const std::string& what) {
    world.log.write(LogLevel::Info, "Audit", request.remote + " " + what);
}

Answer get_config(const ServerWorld& world, const Request& request) {
    const auto name = named_config(world, request);
    if (!name) {
        co_return answer(name.error());
    }
    auto start = [&](SlotService::Done<ConfigVersion> done) {
        world.slots.active_config(*name, std::move(done));
    };
    const auto config = co_await await_done<Result<ConfigVersion, SlotError>>(start);
    co_return *config ? answer_json(config_json(**config)) : answer(to_problem(config->error()));
}

Answer set_config(const ServerWorld& world, const Request& request) {
    const auto draft = [&]() -> Result<ConfigDraft, Problem> {
        const JsonBody body{request.body};
        return body.object() == nullptr ? Unexpected{body.problem()} : read_config(*body.object());
    }();
    if (!draft) {
        co_return answer(draft.error());
    }
    auto start = [&](SlotService::Done<ConfigVersion> done) {
        world.slots.put_config(*draft, std::move(done));
    };
    const auto put = co_await await_done<Result<ConfigVersion, SlotError>>(start);
    if (!*put) {
        co_return answer(to_problem(put->error()));
    }
    const ConfigVersion& config = **put;
    audit(world, request, "set config " + config.terms.name.text() + " as " + config_id_text(config.id));
    co_return answer_json(config_json(config));
}

Answer get_config_history(const ServerWorld& world, const Request& request) {
    const auto name = named_config(world, request);
    if (!name) {
        co_return answer(name.error());
    }
    auto start = [&](SlotService::Done<Configs> done) { world.slots.config_history(*name, std::move(done)); };
    const auto versions = co_await await_done<Result<Configs, SlotError>>(start);
    co_return *versions ? answer_json(history_json(**versions)) : answer(to_problem(versions->error()));
}

Answer list_configs(const ServerWorld& world, const Request& /*request*/) {
    auto start = [&](SlotService::Done<Configs> done) { world.slots.active_configs(std::move(done)); };
    const auto configs = co_await await_done<Result<Configs, SlotError>>(start);
    co_return *configs ? answer_json(configs_json(**configs)) : answer(to_problem(configs->error()));
}

Answer flush_cache(const ServerWorld& world, const Request& request) {
    auto start = [&](SlotService::Done<std::monostate> done) {
        world.slots.flush_config_cache(std::move(done));
    };
    const auto flushed = co_await await_done<Result<std::monostate, SlotError>>(start);
    if (!*flushed) {
        co_return answer(to_problem(flushed->error()));
    }
    audit(world, request, "flushed the config cache");
    co_return answer_json(R"({"status":"ok"})");
}

Response front_page(const ServerWorld& /*world*/, const Request& /*request*/) {
    return answer_json(
        R"({"service":"sluice","paths":{"slots":"/api/v1/slots","check":"/api/v1/check",)"
        R"("windows":"/api/v1/windows","configs":"/admin/rate-limit/configs","plans":"/admin/plans",)"
        R"("settings":"/admin/settings","ready":"/readyz","metrics":"/metrics",)"
        R"("everything":"/openapi.json"}})");
}

Response settings(const ServerWorld& world, const Request& /*request*/) {
    return answer_json(world.settings_json());
}

Response health_live(const ServerWorld& /*world*/, const Request& /*request*/) {
    return answer_json(R"({"status":"ok"})");
}

Answer health_ready(const ServerWorld& world, const Request& /*request*/) {
    auto start = [&](SlotService::Done<SlotReadiness> done) { world.slots.readiness(std::move(done)); };
    const auto asked = co_await await_done<Result<SlotReadiness, SlotError>>(start);
    const SlotReadiness slots = *asked ? **asked : SlotReadiness{false, "unavailable"};
    if (slots.ready) {
        const std::string_view limits = limits_trouble(world);
        const auto word = [](std::string_view trouble) { return trouble.empty() ? "ok" : trouble; };
        co_return answer_json(R"({"status":")" +
                              std::string{slots.trouble.empty() && limits.empty() ? "ok" : "degraded"} +
                              R"(","slots":")" + std::string{word(slots.trouble)} + R"(","limits":")" +
                              std::string{word(limits)} + R"("})");
    }
    co_return Response{503, "application/json",
                       R"({"status":"down","slots":")" + std::string{slots.trouble} + R"("})",
                       "Retry-After: 1\r\n"};
}

Response metrics(const ServerWorld& world, const Request& /*request*/) {
    return {200, "text/plain; version=0.0.4; charset=utf-8", world.metrics_text()};
}

Response openapi(const ServerWorld& world, const Request& /*request*/) {
    return answer_json(std::string{world.openapi_json});
}

}  // namespace sluice::http
