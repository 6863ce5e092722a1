#include <algorithm>

#include <boost/json/array.hpp>

#include "door/http/audit.hpp"
#include "door/http/await_done.hpp"
#include "door/http/json_body.hpp"
#include "door/http/raw_json.hpp"
#include "door/http/slot_desk.hpp"
#include "door/http/target.hpp"
#include "door/http/traceparent.hpp"

namespace sluice::http {
namespace {

namespace json = boost::json;

// What the bodies of a request may leave out.
BodyDefaults defaults_for(const SlotDesk& desk, const Request& request) {
    return body_defaults(desk, well_formed_traceparent(request.headers->find("traceparent")));
}

EventRead read_single(const SlotDesk& desk, const Request& request) {
    const JsonBody body{request.body};
    return body.object() == nullptr ? EventRead{std::nullopt, body.problem()}
                                    : read_event({*body.object(), request.body}, defaults_for(desk, request));
}

// A batch as read.
struct Batch {
    bool atomic = false;
    std::optional<Problem> problem;  // Of the batch as a whole, which then every event has.
    std::vector<EventRead> events;
    std::vector<std::optional<std::string>> names;  // What each event calls itself, for its error.
};

// The first of the problems that there are.
std::optional<Problem> first_problem(const Result<BodyDefaults, Problem>& defaults,
                                     const Result<bool, Problem>& atomic) {
    if (!defaults) {
        return defaults.error();
    }
    return atomic ? std::nullopt : std::optional{atomic.error()};
}

// How each event of a batch was written. Where no work is kept nobody looks at it.
std::vector<std::string_view> event_texts(const SlotDesk& desk, std::string_view batch, std::size_t events) {
    return desk.carriers == nullptr ? std::vector<std::string_view>(events)
                                    : raw_elements(raw_member(batch, "events"));
}

Result<Batch, Problem> read_batch(const SlotDesk& desk, const Request& request) {
    const JsonBody body{request.body};
    if (body.object() == nullptr) {
        return Unexpected{body.problem()};
    }
    if (auto problem = check_batch(*body.object())) {
        return Unexpected{*std::move(problem)};
    }
    const BodyDefaults usual = defaults_for(desk, request);
    const auto defaults = read_batch_defaults(*body.object(), usual);
    const auto atomic = read_flag(*body.object(), "atomic");
    Batch batch{atomic && *atomic, first_problem(defaults, atomic), {}, {}};
    const json::value* events = body.object()->if_contains("events");
    if (events == nullptr || !events->is_array() || events->get_array().empty() ||
        events->get_array().size() > SlotService::kEventsMax) {
        return Unexpected{batch.problem.value_or(
            Problem{400, "invalid_events", "events must be an array of 1 to 10000 events."})};
    }
    const auto texts = event_texts(desk, request.body, events->get_array().size());
    for (const json::value& event : events->get_array()) {
        const std::string_view text = texts[batch.events.size()];
        const json::object* object = event.if_object();
        EventRead read = object == nullptr ? EventRead{std::nullopt, JsonBody::not_an_object()}
                                           : read_event({*object, text}, defaults ? *defaults : usual);
        if (batch.problem) {
            read.spoil(*batch.problem);
        }
        batch.events.push_back(std::move(read));
        const auto claimed = object == nullptr ? std::nullopt : claimed_event_id(*object);
        batch.names.push_back(claimed ? std::optional<std::string>{*claimed} : std::nullopt);
    }
    return batch;
}

// What the events ask for, of those that can be asked about.
std::vector<AssignSlot> take_commands(Batch& batch) {
    std::vector<AssignSlot> commands;
    commands.reserve(batch.events.size());
    for (EventRead& event : batch.events) {
        if (event.command) {
            commands.push_back(std::move(*event.command));
        }
    }
    return commands;
}

// One event keeps all others of the batch from their slots.
Response refuse_all(const Batch& batch, std::size_t event) {
    Problem problem = batch.problem.value_or(*batch.events[event].problem);
    if (!batch.problem) {
        problem.detail = "Event " + std::to_string(event + 1) + " of the batch: " + problem.detail;
    }
    return http::answer(problem);
}

Response refuse_all(const Batch& batch, const AllRefused& refused) {
    // Only an event that could not be read is unknown, and it is the first of its name.
    if (refused.error.fault == SlotFault::UnknownEvent) {
        const auto first = std::ranges::find(batch.names, refused.event_id.text());
        return refuse_all(batch, static_cast<std::size_t>(first - batch.names.begin()));
    }
    Problem problem = to_problem(refused.error);
    // What helps later or elsewhere keeps its own status; the rest is a conflict within the batch.
    const bool retryable =
        problem.code == "overloaded" || problem.code == "store_unavailable" || problem.code == "store_full";
    problem.status = retryable ? problem.status : 409;
    problem.detail =
        "Nothing was assigned: event '" + refused.event_id.text() + "' failed first. " + problem.detail;
    return http::answer(problem);
}

Answer assign_all(const SlotDesk& desk, Batch& batch) {
    for (std::size_t i = 0; i < batch.events.size(); ++i) {
        if (!batch.events[i].command) {
            co_return refuse_all(batch, i);
        }
    }
    auto start = [&](SlotService::AllDone done) {
        desk.slots.assign_all(take_commands(batch), std::move(done));
    };
    const auto outcome = co_await await_done<AllOutcome>(start);
    if (!*outcome) {
        co_return refuse_all(batch, outcome->error());
    }
    std::string body = R"({"results":[)";
    for (const Granted& granted : **outcome) {
        body += body.back() == '[' ? "" : ",";
        append_slot(body, granted.slot);
    }
    co_return answer_json(body + "]}");
}

std::string batch_json(const Batch& batch, const EachOutcome& outcomes) {
    std::string body = R"({"results":[)";
    auto outcome = outcomes.begin();
    for (std::size_t i = 0; i < batch.events.size(); ++i) {
        const EventRead& event = batch.events[i];
        body += i == 0 ? "" : ",";
        if (!event.command) {
            append_failed(body, batch.names[i], *event.problem);
            continue;
        }
        if (*outcome) {
            append_slot(body, (*outcome)->slot);
        } else {
            append_failed(body, batch.names[i], event.refusal(outcome->error()));
        }
        ++outcome;
    }
    return body + "]}";
}

Answer assign_each(const SlotDesk& desk, Batch& batch) {
    auto start = [&](SlotService::EachDone done) {
        // A batch is larger than what may wait at once; it takes its turns instead of being refused half-way.
        desk.slots.assign_each(take_commands(batch), std::move(done), WhenFull::WaitForRoom);
    };
    const auto outcomes = co_await await_done<EachOutcome>(start);
    const auto is_unknown = [](const SlotOutcome& one) {
        return !one && one.error().fault == SlotFault::UnknownEvent;
    };
    // No event is known: all there is to tell is what is wrong with the batch.
    if (batch.problem && std::ranges::all_of(*outcomes, is_unknown)) {
        co_return http::answer(*batch.problem);
    }
    co_return answer_json(batch_json(batch, *outcomes));
}

}  // namespace

Answer assign_slot(const SlotDesk& desk, const Request& request) {
    EventRead event = read_single(desk, request);
    if (!event.command) {
        co_return http::answer(*event.problem);
    }
    auto start = [&](SlotService::Done<Granted> done) {
        desk.slots.assign(std::move(*event.command), std::move(done));
    };
    const auto outcome = co_await await_done<SlotOutcome>(start);
    co_return *outcome ? answer_json(slot_json((*outcome)->slot))
                       : http::answer(event.refusal(outcome->error()));
}

Answer assign_batch(const SlotDesk& desk, const Request& request) {
    auto batch = read_batch(desk, request);
    if (!batch) {
        co_return http::answer(batch.error());
    }
    if (batch->atomic) {
        co_return co_await assign_all(desk, *batch);
    }
    co_return co_await assign_each(desk, *batch);
}

Answer quote_slot(const SlotDesk& desk, const Request& request) {
    auto quote = [&]() -> Result<QuoteRequest, Problem> {
        const JsonBody body{request.body};
        return body.object() == nullptr ? Unexpected{body.problem()}
                                        : read_quote({*body.object(), request.body}, body_defaults(desk));
    }();
    if (!quote) {
        co_return http::answer(quote.error());
    }
    auto start = [&](SlotService::Done<Slot> done) { desk.slots.quote(*quote, std::move(done)); };
    const auto slot = co_await await_done<Result<Slot, SlotError>>(start);
    co_return *slot ? answer_json(quote_json(**slot)) : http::answer(to_problem(slot->error()));
}

Answer get_slot(const SlotDesk& desk, const Request& request) {
    const auto event_id = read_event_id(request.capture);
    if (!event_id) {
        co_return http::answer(event_id.error());
    }
    auto start = [&](SlotService::Done<SlotStory> done) { desk.slots.find(*event_id, std::move(done)); };
    const auto story = co_await await_done<Result<SlotStory, SlotError>>(start);
    co_return *story ? answer_json(story_json(**story)) : http::answer(to_problem(story->error()));
}

Answer cancel_slot(const SlotDesk& desk, const Request& request) {
    const auto event_id = read_event_id(request.capture);
    if (!event_id) {
        co_return http::answer(event_id.error());
    }
    auto start = [&](SlotService::Done<Granted> done) {
        desk.slots.cancel(*event_id, std::move(done), who(request));
    };
    const auto outcome = co_await await_done<SlotOutcome>(start);
    co_return *outcome ? Response{204, {}, {}} : http::answer(to_problem(outcome->error()));
}

Answer move_slot(const SlotDesk& desk, const Request& request) {
    const auto event_id = read_event_id(request.capture);
    if (!event_id) {
        co_return http::answer(event_id.error());
    }
    const auto requested = [&]() -> Result<Instant, Problem> {
        const JsonBody body{request.body};
        return body.object() == nullptr ? Unexpected{body.problem()}
                                        : read_move(*body.object(), body_defaults(desk).latest);
    }();
    if (!requested) {
        co_return http::answer(requested.error());
    }
    auto start = [&](SlotService::Done<Granted> done) {
        desk.slots.move(*event_id, *requested, std::move(done), who(request));
    };
    const auto outcome = co_await await_done<SlotOutcome>(start);
    co_return *outcome ? answer_json(slot_json((*outcome)->slot))
                       : http::answer(to_problem(outcome->error()));
}

Answer list_windows(const SlotDesk& desk, const Request& request) {
    const auto target = parse_target(request.target);
    if (!target) {
        co_return http::answer(Problem{400, "malformed_request", "The query cannot be read."});
    }
    // Slots lie up to ten years behind what may be requested.
    const Instant latest = body_defaults(desk).latest + kTenYears;
    const auto from = read_time("from", target->parameter("from").value_or(""), latest);
    const auto to = read_time("to", target->parameter("to").value_or(""), latest);
    const auto name = target->parameter("configName") ? read_config_name(*target->parameter("configName"))
                                                      : Result<ConfigName, Problem>{desk.default_config};
    if (!from || !to || !name) {
        co_return http::answer(!from ? from.error() : !to ? to.error() : name.error());
    }
    auto start = [&](SlotService::Done<WindowReport> done) {
        desk.slots.windows(*name, {*from, *to}, std::move(done));
    };
    const auto report = co_await await_done<Result<WindowReport, SlotError>>(start);
    co_return *report ? answer_json(windows_json(**report)) : http::answer(to_problem(report->error()));
}

}  // namespace sluice::http
