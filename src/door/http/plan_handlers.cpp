#include "base/iso8601.hpp"
#include "base/json_text.hpp"
#include "door/http/audit.hpp"
#include "door/http/await_done.hpp"
#include "door/http/json_body.hpp"
#include "door/http/json_fields.hpp"
#include "door/http/limit_desk.hpp"
#include "door/http/limit_json.hpp"
#include "door/http/target.hpp"

namespace sluice::http {
namespace {

Response no_plan(const std::string& name) { return answer(to_problem(unknown_plan(name))); }

std::string plan_json(const BookedPlan& booked) {
    std::string json;
    append_plan(json, booked);
    return json;
}

Result<PlanDraft, Problem> read_named_plan(const Request& request) {
    if (!is_plan_name(request.capture)) {
        return Unexpected{bad("invalid_plan", "A plan's name is 1 to 128 letters, digits and _ . : -")};
    }
    const JsonBody body{request.body};
    if (body.object() == nullptr) {
        return Unexpected{body.problem()};
    }
    auto draft = read_plan(*body.object(), kPlanFields);
    const auto name = read_text(*body.object(), "name", "invalid_plan");
    if (!draft || !name) {
        return Unexpected{!draft ? draft.error() : name.error()};
    }
    if (name->value_or(request.capture) != request.capture) {
        return Unexpected{bad("invalid_plan", "The name in the body is not the one in the path.")};
    }
    draft->name = request.capture;
    return draft;
}

// The key in the path and the plans in the query, which may be none.
struct KeyWords {
    std::string key;
    std::string names_text;
    std::vector<std::string_view> names;
};

Result<std::unique_ptr<KeyWords>, Problem> read_key_words(const Request& request) {
    const auto target = parse_target(request.target);
    if (!target) {
        return Unexpected{Problem{400, "malformed_request", "The query cannot be read."}};
    }
    const auto key = read_key(request.capture);
    if (!key) {
        return Unexpected{key.error()};
    }
    // On the heap, so that the names' views stay where they point.
    auto words = std::make_unique<KeyWords>();
    words->key = *key;
    words->names_text = target->parameter("plan").value_or("");
    const auto names = read_plan_names(words->names_text);
    if (!names) {
        return Unexpected{names.error()};
    }
    words->names = *names;
    return words;
}

struct OverrideWords {
    std::string plan;
    PlanDraft draft;
    OverrideEnd end;
};

Result<OverrideWords, Problem> read_override(const LimitDesk& desk, const Request& request) {
    const JsonBody body{request.body};
    if (body.object() == nullptr) {
        return Unexpected{body.problem()};
    }
    auto draft = read_plan(*body.object(), kOverrideFields);
    if (!draft) {
        return Unexpected{draft.error()};
    }
    const auto plan = read_text(*body.object(), "plan", "invalid_plans");
    if (!plan || !*plan) {
        return Unexpected{plan ? bad("invalid_plans", "plan is missing.") : plan.error()};
    }
    const auto end = read_end(*body.object(), desk.clock.now());
    if (!end) {
        return Unexpected{end.error()};
    }
    return OverrideWords{std::string{**plan}, *std::move(draft), *end};
}

}  // namespace

Response list_plans(const LimitDesk& desk, const Request& /*request*/) {
    const auto plans = desk.limits.plans().current();
    std::string json = R"({"version":)" + std::to_string(plans->version()) + R"(,"fileError":)";
    if (plans->file_error().empty()) {
        json += "null";
    } else {
        append_json_string(json, plans->file_error());
    }
    json += R"(,"plans":[)";
    for (const auto& booked : plans->all()) {
        json += json.back() == '[' ? "" : ",";
        append_plan(json, *booked);
    }
    return answer_json(json + "]}");
}

Response get_plan(const LimitDesk& desk, const Request& request) {
    const auto plans = desk.limits.plans().current();
    const BookedPlan* booked = plans->find(request.capture);
    return booked == nullptr ? no_plan(request.capture) : answer_json(plan_json(*booked));
}

Answer put_plan(const LimitDesk& desk, const Request& request) {
    using Booked = std::shared_ptr<const BookedPlan>;
    const auto draft = read_named_plan(request);
    if (!draft) {
        co_return answer(draft.error());
    }
    auto start = [&](LimitService::Done<Booked> done) { desk.limits.put_plan(*draft, std::move(done)); };
    const auto booked = co_await await_done<Result<Booked, LimitError>>(start);
    if (!*booked) {
        co_return answer(to_problem(booked->error()));
    }
    audit(desk.log, request, "set plan " + draft->name);
    co_return answer_json(plan_json(***booked));
}

Answer remove_plan(const LimitDesk& desk, const Request& request) {
    auto start = [&](LimitService::Done<bool> done) {
        desk.limits.remove_plan(request.capture, std::move(done));
    };
    const auto removed = co_await await_done<Result<bool, LimitError>>(start);
    if (!*removed) {
        co_return answer(to_problem(removed->error()));
    }
    if (!**removed) {
        co_return no_plan(request.capture);
    }
    audit(desk.log, request, "removed plan " + request.capture);
    co_return Response{204};
}

Answer inspect_key(const LimitDesk& desk, const Request& request) {
    const auto words = read_key_words(request);
    if (!words) {
        co_return answer(words.error());
    }
    auto start = [&](LimitService::Done<std::vector<KeyStanding>> done) {
        desk.limits.inspect((*words)->key, (*words)->names, std::move(done));
    };
    const auto seen = co_await await_done<Result<std::vector<KeyStanding>, LimitError>>(start);
    co_return *seen ? answer_json(standings_json((*words)->key, **seen)) : answer(to_problem(seen->error()));
}

Answer reset_key(const LimitDesk& desk, const Request& request) {
    const auto words = read_key_words(request);
    if (!words) {
        co_return answer(words.error());
    }
    auto start = [&](LimitService::Done<std::monostate> done) {
        desk.limits.reset((*words)->key, (*words)->names, std::move(done));
    };
    const auto forgotten = co_await await_done<Result<std::monostate, LimitError>>(start);
    if (!*forgotten) {
        co_return answer(to_problem(forgotten->error()));
    }
    audit(desk.log, request, "reset key " + (*words)->key);
    co_return Response{204};
}

Answer override_key(const LimitDesk& desk, const Request& request) {
    const auto key = read_key(request.capture);
    const auto words = read_override(desk, request);
    if (!key || !words) {
        co_return answer(!key ? key.error() : words.error());
    }
    auto start = [&](LimitService::Done<Moment> done) {
        desk.limits.put_override({*key, words->plan, words->draft, words->end}, std::move(done));
    };
    const auto kept = co_await await_done<Result<Moment, LimitError>>(start);
    if (!*kept) {
        co_return answer(to_problem(kept->error()));
    }
    const Instant until = std::chrono::floor<Duration>(**kept);
    audit(desk.log, request,
          "overrode plan " + words->plan + " for key " + request.capture + " until " + format_instant(until));
    std::string json = R"({"key":)";
    append_json_string(json, *key);
    json += R"(,"plan":")" + words->plan + R"(","until":")" + format_instant(until) + "\"}";
    co_return answer_json(json);
}

}  // namespace sluice::http
