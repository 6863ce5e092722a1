#include "door/http/await_service.hpp"
#include "door/http/handlers.hpp"
#include "door/http/json_body.hpp"
#include "door/http/openapi.hpp"
#include "door/http/target.hpp"

namespace sluice::http {
namespace {

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
    const auto query = [wanted = *name](SlotStore& store) { return store.active_config(wanted); };
    const auto config = co_await ask(world.slots, query);
    co_return config ? answer_json(config_json(*config)) : answer(to_problem(config.error()));
}

Answer set_config(const ServerWorld& world, const Request& request) {
    const auto draft = [&]() -> Result<ConfigDraft, Problem> {
        const JsonBody body{request.body};
        return body.object() == nullptr ? Unexpected{body.problem()} : read_config(*body.object());
    }();
    if (!draft) {
        co_return answer(draft.error());
    }
    const auto query = [wanted = *draft](SlotStore& store) { return store.put_config(wanted); };
    const auto config = co_await ask(world.slots, query);
    if (!config) {
        co_return answer(to_problem(config.error()));
    }
    audit(world, request, "set config " + config->terms.name.text() + " as " + config_id_text(config->id));
    co_return answer_json(config_json(*config));
}

Answer get_config_history(const ServerWorld& world, const Request& request) {
    const auto name = named_config(world, request);
    if (!name) {
        co_return answer(name.error());
    }
    const auto query = [wanted = *name](SlotStore& store) { return store.config_history(wanted); };
    const auto versions = co_await ask(world.slots, query);
    co_return versions ? answer_json(history_json(*versions)) : answer(to_problem(versions.error()));
}

Answer list_configs(const ServerWorld& world, const Request& /*request*/) {
    const auto query = [](SlotStore& store) { return store.active_configs(); };
    const auto configs = co_await ask(world.slots, query);
    co_return configs ? answer_json(configs_json(*configs)) : answer(to_problem(configs.error()));
}

Answer flush_cache(const ServerWorld& world, const Request& request) {
    const auto query = [](SlotStore& store) -> Result<bool, SlotError> {
        store.flush_config_cache();
        return true;
    };
    const auto flushed = co_await ask(world.slots, query);
    if (!flushed) {
        co_return answer(to_problem(flushed.error()));
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
    // What is wrong with slots, empty when nothing is, and whether they can be assigned nevertheless.
    struct Standing {
        bool ready;
        std::string trouble;
    };
    const auto query = [](SlotStore& store) -> Result<Standing, SlotError> {
        const bool available = store.available();
        if (store.full()) {
            return Standing{false, "store_full"};
        }
        return available ? Standing{true, std::string{store.concern()}} : Standing{false, "unavailable"};
    };
    const auto slots = co_await ask(world.slots, query);
    if (slots && slots->ready) {
        const std::string_view limits = limits_trouble(world);
        const auto word = [](std::string_view trouble) { return trouble.empty() ? "ok" : trouble; };
        co_return answer_json(R"({"status":")" +
                              std::string{slots->trouble.empty() && limits.empty() ? "ok" : "degraded"} +
                              R"(","slots":")" + std::string{word(slots->trouble)} + R"(","limits":")" +
                              std::string{word(limits)} + R"("})");
    }
    const std::string_view named = slots ? std::string_view{slots->trouble} : "unavailable";
    co_return Response{503, "application/json",
                       R"({"status":"down","slots":")" + std::string{named} + R"("})", "Retry-After: 1\r\n"};
}

Response metrics(const ServerWorld& world, const Request& /*request*/) {
    return {200, "text/plain; version=0.0.4; charset=utf-8", world.metrics_text()};
}

Response openapi(const ServerWorld& /*world*/, const Request& /*request*/) {
    return answer_json(std::string{openapi_json()});
}

}  // namespace sluice::http
