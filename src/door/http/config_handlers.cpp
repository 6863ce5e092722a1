#include "door/http/audit.hpp"
#include "door/http/await_done.hpp"
#include "door/http/json_body.hpp"
#include "door/http/slot_desk.hpp"
#include "door/http/target.hpp"

namespace sluice::http {
namespace {

using Configs = std::vector<ConfigVersion>;

// The config that a query names; without a name, the default one.
Result<ConfigName, Problem> named_config(const SlotDesk& desk, const Request& request) {
    const auto target = parse_target(request.target);
    if (!target) {
        return Unexpected{Problem{400, "malformed_request", "The query cannot be read."}};
    }
    const auto name = target->parameter("name");
    return name ? read_config_name(*name) : Result<ConfigName, Problem>{desk.default_config};
}

}  // namespace

Answer get_config(const SlotDesk& desk, const Request& request) {
    const auto name = named_config(desk, request);
    if (!name) {
        co_return answer(name.error());
    }
    auto start = [&](SlotService::Done<ConfigVersion> done) {
        desk.slots.active_config(*name, std::move(done));
    };
    const auto config = co_await await_done<Result<ConfigVersion, SlotError>>(start);
    co_return *config ? answer_json(config_json(**config)) : answer(to_problem(config->error()));
}

Answer set_config(const SlotDesk& desk, const Request& request) {
    const auto draft = [&]() -> Result<ConfigDraft, Problem> {
        const JsonBody body{request.body};
        return body.object() == nullptr
                   ? Unexpected{body.problem()}
                   : read_config(*body.object(), desk.carriers == nullptr ? KeepsWork::No : KeepsWork::Yes);
    }();
    if (!draft) {
        co_return answer(draft.error());
    }
    auto start = [&](SlotService::Done<ConfigVersion> done) {
        desk.slots.put_config(*draft, std::move(done));
    };
    const auto put = co_await await_done<Result<ConfigVersion, SlotError>>(start);
    if (!*put) {
        co_return answer(to_problem(put->error()));
    }
    const ConfigVersion& config = **put;
    audit(desk.log, request, "set config " + config.terms.name.text() + " as " + config_id_text(config.id));
    co_return answer_json(config_json(config));
}

Answer get_config_history(const SlotDesk& desk, const Request& request) {
    const auto name = named_config(desk, request);
    if (!name) {
        co_return answer(name.error());
    }
    auto start = [&](SlotService::Done<Configs> done) { desk.slots.config_history(*name, std::move(done)); };
    const auto versions = co_await await_done<Result<Configs, SlotError>>(start);
    co_return *versions ? answer_json(history_json(**versions)) : answer(to_problem(versions->error()));
}

Answer list_configs(const SlotDesk& desk, const Request& /*request*/) {
    auto start = [&](SlotService::Done<Configs> done) { desk.slots.active_configs(std::move(done)); };
    const auto configs = co_await await_done<Result<Configs, SlotError>>(start);
    co_return *configs ? answer_json(configs_json(**configs)) : answer(to_problem(configs->error()));
}

Answer flush_cache(const SlotDesk& desk, const Request& request) {
    auto start = [&](SlotService::Done<std::monostate> done) {
        desk.slots.flush_config_cache(std::move(done));
    };
    const auto flushed = co_await await_done<Result<std::monostate, SlotError>>(start);
    if (!*flushed) {
        co_return answer(to_problem(flushed->error()));
    }
    audit(desk.log, request, "flushed the config cache");
    co_return answer_json(R"({"status":"ok"})");
}

}  // namespace sluice::http
