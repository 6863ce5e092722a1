#include <boost/json/array.hpp>

#include "door/http/await_service.hpp"
#include "door/http/handlers.hpp"
#include "door/http/json_body.hpp"
#include "door/http/target.hpp"

namespace sluice::http {
namespace {

namespace json = boost::json;

// How many events of a batch travel together through the combiner.
constexpr std::size_t kEventsPerCommand = 256;

Response answer(const SlotOutcome& outcome) {
    return outcome ? answer_json(slot_json(outcome->slot)) : http::answer(to_problem(outcome.error()));
}

struct Single {
    Result<AssignSlot, Problem> assignment;
    std::optional<EventId> claimed;  // Whom it is about, when only values of the rest are wrong.
};

Single read_single(const ServerWorld& world, std::string_view text) {
    const JsonBody body{text};
    if (body.object() == nullptr) {
        return {Unexpected{body.problem()}, std::nullopt};
    }
    auto assignment = read_assignment(*body.object(), body_defaults(world));
    const bool readable = assignment || assignment.error().code != "unknown_field";
    const auto claimed = assignment || !readable ? std::nullopt : claimed_event_id(*body.object());
    return {std::move(assignment), EventId::make(claimed.value_or(""))};
}

// A known event has its slot, whatever values its body has; only an unknown one is told what is wrong.
Answer answer_wrong_body(const ServerWorld& world, const Problem& problem, const EventId& event_id) {
    const auto query = [event_id](SlotStore& store) { return store.find(event_id); };
    const auto known = co_await ask(world.slots, query);
    const bool assigned = known && known->slot.state == SlotState::Assigned;
    co_return assigned ? answer_json(slot_json(known->slot)) : http::answer(problem);
}

// A batch as read: each event, or why it is none.
struct Batch {
    bool atomic = false;
    std::vector<Result<AssignSlot, Problem>> events;
    std::vector<std::optional<std::string>> names;  // What each event calls itself, for its error.
};

Result<Batch, Problem> read_batch(const ServerWorld& world, std::string_view text) {
    const JsonBody body{text};
    if (body.object() == nullptr) {
        return Unexpected{body.problem()};
    }
    const auto defaults = read_batch_defaults(*body.object(), body_defaults(world));
    if (!defaults) {
        return Unexpected{defaults.error()};
    }
    const auto atomic = read_flag(*body.object(), "atomic");
    if (!atomic) {
        return Unexpected{atomic.error()};
    }
    const json::value* events = body.object()->if_contains("events");
    if (events == nullptr || !events->is_array() || events->get_array().empty() ||
        events->get_array().size() > SlotService::kEventsMax) {
        return Unexpected{Problem{400, "invalid_events", "events must be an array of 1 to 10000 events."}};
    }
    Batch batch{*atomic, {}, {}};
    for (const json::value& event : events->get_array()) {
        const json::object* object = event.if_object();
        batch.events.push_back(object == nullptr
                                   ? Result<AssignSlot, Problem>{Unexpected{JsonBody::not_an_object()}}
                                   : read_assignment(*object, *defaults));
        const auto claimed = object == nullptr ? std::nullopt : claimed_event_id(*object);
        batch.names.push_back(claimed ? std::optional<std::string>{*claimed} : std::nullopt);
    }
    return batch;
}

Answer assign_all(const ServerWorld& world, Batch& batch) {
    AssignAll all;
    for (std::size_t i = 0; i < batch.events.size(); ++i) {
        if (!batch.events[i]) {
            Problem problem = batch.events[i].error();
            problem.detail = "Event " + std::to_string(i + 1) + " of the batch: " + problem.detail;
            co_return http::answer(problem);
        }
        all.events.push_back(*std::move(batch.events[i]));
    }
    SlotCommand command{std::move(all)};
    const SlotReply reply = co_await execute(world.slots, std::move(command));
    const auto& outcome = std::get<AllOutcome>(reply);
    if (!outcome) {
        Problem problem = to_problem(outcome.error().error);
        // What helps later or elsewhere keeps its own status; the rest is a conflict within the batch.
        const bool retryable = problem.code == "overloaded" || problem.code == "store_unavailable" ||
                               problem.code == "store_full";
        problem.status = retryable ? problem.status : 409;
        problem.detail = "Nothing was assigned: event '" + outcome.error().event_id.text() +
                         "' failed first. " + problem.detail;
        co_return http::answer(problem);
    }
    std::string body = R"({"results":[)";
    for (const Granted& granted : *outcome) {
        body += body.back() == '[' ? "" : ",";
        append_slot(body, granted.slot);
    }
    co_return answer_json(body + "]}");
}

// The events that can be placed, cut into commands.
std::vector<SlotCommand> commands_of(Batch& batch) {
    std::vector<SlotCommand> commands;
    AssignEach next;
    for (auto& event : batch.events) {
        if (event) {
            next.events.push_back(*std::move(event));
        }
        if (next.events.size() == kEventsPerCommand) {
            commands.emplace_back(std::exchange(next, {}));
        }
    }
    if (!next.events.empty()) {
        commands.emplace_back(std::move(next));
    }
    return commands;
}

std::string batch_json(const Batch& batch, const EachOutcome& outcomes) {
    std::string body = R"({"results":[)";
    auto outcome = outcomes.begin();
    for (std::size_t i = 0; i < batch.events.size(); ++i) {
        body += i == 0 ? "" : ",";
        if (!batch.events[i]) {
            append_failed(body, batch.names[i], batch.events[i].error());
            continue;
        }
        if (*outcome) {
            append_slot(body, (*outcome)->slot);
        } else {
            append_failed(body, batch.names[i], to_problem(outcome->error()));
        }
        ++outcome;
    }
    return body + "]}";
}

Answer assign_each(const ServerWorld& world, Batch& batch) {
    EachOutcome outcomes;
    std::vector<SlotCommand> commands = commands_of(batch);
    for (SlotCommand& command : commands) {
        // A batch is larger than what may wait at once; it takes its turns instead of being refused half-way.
        SlotReply reply = co_await execute(world.slots, std::move(command), WhenFull::WaitForRoom);
        for (SlotOutcome& outcome : std::get<EachOutcome>(reply)) {
            outcomes.push_back(std::move(outcome));
        }
    }
    co_return answer_json(batch_json(batch, outcomes));
}

}  // namespace

Answer assign_slot(const ServerWorld& world, const Request& request) {
    Single single = read_single(world, request.body);
    if (!single.assignment && single.claimed) {
        co_return co_await answer_wrong_body(world, single.assignment.error(), *single.claimed);
    }
    if (!single.assignment) {
        co_return http::answer(single.assignment.error());
    }
    SlotCommand command{*std::move(single.assignment)};
    const SlotReply reply = co_await execute(world.slots, std::move(command));
    co_return answer(std::get<SlotOutcome>(reply));
}

Answer assign_batch(const ServerWorld& world, const Request& request) {
    auto batch = read_batch(world, request.body);
    if (!batch) {
        co_return http::answer(batch.error());
    }
    if (batch->atomic) {
        co_return co_await assign_all(world, *batch);
    }
    co_return co_await assign_each(world, *batch);
}

Answer quote_slot(const ServerWorld& world, const Request& request) {
    auto quote = [&]() -> Result<QuoteRequest, Problem> {
        const JsonBody body{request.body};
        return body.object() == nullptr ? Unexpected{body.problem()}
                                        : read_quote(*body.object(), body_defaults(world));
    }();
    if (!quote) {
        co_return http::answer(quote.error());
    }
    const auto query = [wanted = *quote](SlotStore& store) { return store.quote(wanted); };
    const auto slot = co_await ask(world.slots, query);
    co_return slot ? answer_json(quote_json(*slot)) : http::answer(to_problem(slot.error()));
}

Answer get_slot(const ServerWorld& world, const Request& request) {
    const auto event_id = read_event_id(request.capture);
    if (!event_id) {
        co_return http::answer(event_id.error());
    }
    const auto query = [id = *event_id](SlotStore& store) { return store.find(id); };
    const auto story = co_await ask(world.slots, query);
    co_return story ? answer_json(story_json(*story)) : http::answer(to_problem(story.error()));
}

Answer cancel_slot(const ServerWorld& world, const Request& request) {
    const auto event_id = read_event_id(request.capture);
    if (!event_id) {
        co_return http::answer(event_id.error());
    }
    SlotCommand command{CancelSlot{*event_id}};
    const SlotReply reply = co_await execute(world.slots, std::move(command));
    const auto& outcome = std::get<SlotOutcome>(reply);
    co_return outcome ? Response{204, {}, {}} : http::answer(to_problem(outcome.error()));
}

Answer move_slot(const ServerWorld& world, const Request& request) {
    const auto event_id = read_event_id(request.capture);
    if (!event_id) {
        co_return http::answer(event_id.error());
    }
    const auto requested = [&]() -> Result<Instant, Problem> {
        const JsonBody body{request.body};
        return body.object() == nullptr ? Unexpected{body.problem()}
                                        : read_move(*body.object(), body_defaults(world).latest);
    }();
    if (!requested) {
        co_return http::answer(requested.error());
    }
    SlotCommand command{MoveSlot{*event_id, *requested}};
    const SlotReply reply = co_await execute(world.slots, std::move(command));
    co_return answer(std::get<SlotOutcome>(reply));
}

Answer list_windows(const ServerWorld& world, const Request& request) {
    const auto target = parse_target(request.target);
    if (!target) {
        co_return http::answer(Problem{400, "malformed_request", "The query cannot be read."});
    }
    // Slots lie up to ten years behind what may be requested.
    const Instant latest = body_defaults(world).latest + kTenYears;
    const auto from = read_time("from", target->parameter("from").value_or(""), latest);
    const auto to = read_time("to", target->parameter("to").value_or(""), latest);
    const auto name = target->parameter("configName") ? read_config_name(*target->parameter("configName"))
                                                      : Result<ConfigName, Problem>{world.default_config};
    if (!from || !to || !name) {
        co_return http::answer(!from ? from.error() : !to ? to.error() : name.error());
    }
    const auto query = [config = *name, range = TimeRange{*from, *to}](SlotStore& store) {
        return store.windows(config, range);
    };
    const auto report = co_await ask(world.slots, query);
    co_return report ? answer_json(windows_json(*report)) : http::answer(to_problem(report.error()));
}

}  // namespace sluice::http
