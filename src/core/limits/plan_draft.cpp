#include <array>
#include <charconv>
#include <vector>

#include "base/iso8601.hpp"
#include "base/nearest.hpp"
#include "core/limits/plan.hpp"

namespace sluice {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kRefillForms =
    "refill must be like 10/s, 600/m, 1000/h, 5000/d or 1000/PT15M (at most 31 days)";

// What failed, in the plan's name.
template <class T>
Result<T, PlanError> named(const PlanDraft& draft, Result<T, PlanError> result) {
    if (!result) {
        return Unexpected{PlanError{"plan '" + draft.name + "': " + result.error().what}};
    }
    return result;
}

Unexpected<PlanError> refused(std::string what) { return Unexpected{PlanError{std::move(what)}}; }

Result<Wait, PlanError> read_length(std::string_view field, std::string_view text) {
    const auto length = parse_duration(text);
    if (!length) {
        return refused(std::string{field} + " must be an ISO-8601 duration of at most 31 days, like PT1H");
    }
    return Wait{*length};
}

std::optional<Wait> unit_of(std::string_view text) {
    if (text.size() != 1) {
        return std::nullopt;
    }
    switch (text.front()) {
        case 's': return seconds{1};
        case 'm': return minutes{1};
        case 'h': return hours{1};
        case 'd': return days{1};
        default: return std::nullopt;
    }
}

std::optional<WindowKind> calendar_unit(std::string_view text) {
    if (text == "day") {
        return WindowKind::Day;
    }
    if (text == "week") {
        return WindowKind::Week;
    }
    if (text == "month") {
        return WindowKind::Month;
    }
    return text == "year" ? std::optional{WindowKind::Year} : std::nullopt;
}

Result<WindowCut, PlanError> read_cut(const PlanDraft& draft) {
    if (const auto unit = calendar_unit(draft.window)) {
        return draft.start.empty() ? Result<WindowCut, PlanError>{WindowCut::calendar(*unit)}
                                   : refused("start is of no use to a calendar window");
    }
    const auto size = read_length("window", draft.window);
    if (!size) {
        return refused(size.error().what + ", or day, week, month or year");
    }
    if (draft.start.empty() || draft.start == "aligned") {
        return WindowCut::sized(WindowKind::Aligned, *size);
    }
    return draft.start == "first_hit" ? WindowCut::sized(WindowKind::FirstHit, *size)
                                      : refused("start must be aligned or first_hit");
}

template <class Rule>
Result<LimitRule, PlanError> as_rule(Result<Rule, PlanError> made) {
    return made ? Result<LimitRule, PlanError>{LimitRule{*made}} : Unexpected{std::move(made).error()};
}

Result<LimitRule, PlanError> bucket_of(const PlanDraft& draft) {
    const auto refill = parse_refill(draft.refill);
    return refill ? as_rule(TokenBucket::make(*draft.capacity, *refill)) : Unexpected{refill.error()};
}

Result<LimitRule, PlanError> window_of(const PlanDraft& draft) {
    const auto cut = read_cut(draft);
    return cut ? as_rule(FixedWindow::make(*draft.capacity, *cut)) : Unexpected{cut.error()};
}

// The algorithms that are a limit and one length.
template <class Rule>
Result<LimitRule, PlanError> lasting(const PlanDraft& draft) {
    const auto length = read_length("window", draft.window);
    return length ? as_rule(Rule::make(*draft.capacity, *length)) : Unexpected{length.error()};
}

Result<LimitRule, PlanError> cooldown_of(const PlanDraft& draft) {
    if (!draft.max_per_hour && !draft.capacity) {
        return refused("cooldown needs max_per_hour");
    }
    if (draft.max_per_hour && draft.capacity && *draft.max_per_hour != *draft.capacity) {
        return refused("capacity and max_per_hour are the same limit, and disagree");
    }
    const auto pause = read_length("cooldown", draft.cooldown);
    return pause ? as_rule(Cooldown::make(*pause, draft.max_per_hour.value_or(draft.capacity.value_or(0))))
                 : Unexpected{pause.error()};
}

struct Algorithm {
    std::string_view name;
    std::string_view fields;  // Those it uses, beside name, algorithm, capacity and the traits.
    Result<LimitRule, PlanError> (*make)(const PlanDraft&);
};

constexpr std::array kAlgorithms{
    Algorithm{"token_bucket", "refill lease", bucket_of},
    Algorithm{"fixed_window", "window start", window_of},
    Algorithm{"sliding_window", "window", lasting<SlidingWindow>},
    Algorithm{"sliding_window_estimate", "window", lasting<SlidingWindowEstimate>},
    Algorithm{"cooldown", "cooldown max_per_hour", cooldown_of},
    Algorithm{"concurrency", "window", lasting<Concurrency>},
};

// A field that would be ignored is a mistake of whoever wrote it.
std::optional<std::string> useless_field(const Algorithm& algorithm, const PlanDraft& draft) {
    const std::array<std::pair<std::string_view, bool>, 6> given{
        {{"refill", !draft.refill.empty()},
         {"window", !draft.window.empty()},
         {"start", !draft.start.empty()},
         {"cooldown", !draft.cooldown.empty()},
         {"max_per_hour", draft.max_per_hour.has_value()},
         {"lease", draft.lease.has_value()}}};
    for (const auto& [field, is_given] : given) {
        if (is_given && algorithm.fields.find(field) == std::string_view::npos) {
            return std::string{field} + " is of no use to " + draft.algorithm;
        }
    }
    return std::nullopt;
}

std::string unknown_algorithm(const std::string& name) {
    std::vector<std::string> known;
    std::string list;
    for (const Algorithm& algorithm : kAlgorithms) {
        known.emplace_back(algorithm.name);
        list += (list.empty() ? "" : ", ") + known.back();
    }
    if (name.empty()) {
        return "algorithm is missing; it is one of " + list;
    }
    const std::string near = near_of(name, known);
    return "unknown algorithm '" + name + "'; " +
           (near.empty() ? "it is one of " + list : "the nearest known one is '" + near + "'");
}

Result<LimitRule, PlanError> read_rule(const PlanDraft& draft) {
    for (const Algorithm& algorithm : kAlgorithms) {
        if (algorithm.name != draft.algorithm) {
            continue;
        }
        if (const auto useless = useless_field(algorithm, draft)) {
            return refused(*useless);
        }
        if (!draft.capacity && algorithm.make != cooldown_of) {
            return refused("capacity is missing");
        }
        return algorithm.make(draft);
    }
    return refused(unknown_algorithm(draft.algorithm));
}

Result<PlanTraits, PlanError> read_traits(const PlanDraft& draft) {
    PlanTraits traits{OnStoreFailure::Open, draft.shadow, draft.lease.value_or(0)};
    if (draft.lease && (*draft.lease < 1 || *draft.lease > draft.capacity.value_or(0))) {
        return refused("lease must be from 1 to the capacity");
    }
    if (draft.on_store_failure == "closed") {
        traits.on_store_failure = OnStoreFailure::Closed;
    } else if (draft.on_store_failure == "local") {
        traits.on_store_failure = OnStoreFailure::Local;
    } else if (!draft.on_store_failure.empty() && draft.on_store_failure != "open") {
        return refused("on_store_failure must be open, closed or local");
    }
    return traits;
}

}  // namespace

Result<Refill, PlanError> parse_refill(std::string_view text) {
    const char* const end = text.data() + text.size();
    Refill refill;
    const auto [behind, error] = std::from_chars(text.data(), end, refill.tokens);
    if (error != std::errc{} || refill.tokens < 1 || behind == end || *behind != '/') {
        return refused(kRefillForms);
    }
    const std::string_view period = text.substr(static_cast<std::size_t>(behind - text.data()) + 1);
    if (const auto unit = unit_of(period)) {
        refill.period = *unit;
        return refill;
    }
    const auto length = parse_duration(period);
    if (!length) {
        return refused(kRefillForms);
    }
    refill.period = *length;
    return refill;
}

Result<Plan, PlanError> make_plan(const PlanDraft& draft) {
    const auto rule = named(draft, read_rule(draft));
    if (!rule) {
        return Unexpected{rule.error()};
    }
    const auto traits = named(draft, read_traits(draft));
    if (!traits) {
        return Unexpected{traits.error()};
    }
    return named(draft, Plan::make(draft.name, *rule, *traits));
}

}  // namespace sluice
