#include <algorithm>
#include <charconv>

#include <boost/json/array.hpp>

#include "base/iso8601.hpp"
#include "base/name.hpp"
#include "door/http/json_fields.hpp"
#include "door/http/limit_json.hpp"
#include "door/http/slot_json.hpp"

namespace sluice::http {
namespace {

namespace json = boost::json;

// False unless they are 1 to 16 texts.
bool read_plans(const json::object& body, CheckWords& words) {
    const json::value* plans = body.if_contains("plans");
    const json::array* names = plans == nullptr ? nullptr : plans->if_array();
    if (names == nullptr || names->empty() || names->size() > kPlansPerCheckMax) {
        return false;
    }
    for (const json::value& name : *names) {
        if (!name.is_string()) {
            return false;
        }
        words.plans[words.count++] = view(name.get_string());
    }
    return true;
}

Result<Tokens, Problem> read_tokens(const json::object& body) {
    const json::value* tokens = body.if_contains("tokens");
    if (tokens == nullptr) {
        return Tokens{1};
    }
    if (!tokens->is_int64() || tokens->get_int64() < 0) {
        return Unexpected{bad("invalid_tokens", "tokens must be a whole number, 0 or more.")};
    }
    return tokens->get_int64();
}

// The fields of a plan's rule come first: an override has only those.
struct TextField {
    std::string_view name;
    std::string PlanDraft::*member;
};
constexpr std::size_t kRuleTexts = 5;
constexpr std::array<TextField, 6> kTexts{{{"algorithm", &PlanDraft::algorithm},
                                           {"refill", &PlanDraft::refill},
                                           {"window", &PlanDraft::window},
                                           {"start", &PlanDraft::start},
                                           {"cooldown", &PlanDraft::cooldown},
                                           {"on_store_failure", &PlanDraft::on_store_failure}}};
struct NumberField {
    std::string_view name;
    std::optional<Tokens> PlanDraft::*member;
};
constexpr std::size_t kRuleNumbers = 2;
constexpr std::array<NumberField, 3> kNumbers{{{"capacity", &PlanDraft::capacity},
                                               {"max_per_hour", &PlanDraft::max_per_hour},
                                               {"lease", &PlanDraft::lease}}};

// The names of the first fields of both tables, and of those beside them.
template <std::size_t Texts, std::size_t Numbers, std::size_t Others>
constexpr auto names_of(const std::array<std::string_view, Others>& others) {
    std::array<std::string_view, Texts + Numbers + Others> names{};
    auto next = names.begin();
    for (std::size_t i = 0; i < Texts; ++i) {
        *next++ = kTexts[i].name;
    }
    for (std::size_t i = 0; i < Numbers; ++i) {
        *next++ = kNumbers[i].name;
    }
    std::copy(others.begin(), others.end(), next);
    return names;
}

constexpr auto kPlanKnown =
    names_of<kTexts.size(), kNumbers.size()>(std::array<std::string_view, 2>{"shadow", "name"});
constexpr auto kOverrideKnown =
    names_of<kRuleTexts, kRuleNumbers>(std::array<std::string_view, 3>{"plan", "until", "ttl"});
constexpr std::array<std::string_view, 3> kCheckKnown{"key", "plans", "tokens"};
constexpr std::array<std::string_view, 2> kCheckBatchKnown{"checks", "atomic"};
constexpr std::array<std::string_view, 3> kReleaseKnown{"key", "plan", "lease"};

}  // namespace

constinit const BodyFields kPlanFields{"a plan", kPlanKnown};
constinit const BodyFields kOverrideFields{"an override", kOverrideKnown};
constinit const BodyFields kCheckBatchFields{"a batch of checks", kCheckBatchKnown};
constinit const BodyFields kReleaseFields{"a release", kReleaseKnown};

Result<std::string_view, Problem> read_key(std::string_view text) {
    if (text.empty() || text.size() > kLimitKeyBytesMax || !is_printable_utf8(text)) {
        return Unexpected{
            bad("invalid_key", "key must be 1 to 256 bytes of UTF-8 without control characters.")};
    }
    return text;
}

Result<CheckWords, Problem> read_check(const json::object& body) {
    if (auto problem = check_known(body, {"a check", kCheckKnown})) {
        return Unexpected{*std::move(problem)};
    }
    const auto text = read_text(body, "key", "invalid_key");
    if (!text) {
        return Unexpected{text.error()};
    }
    const auto key = read_key(text->value_or(""));
    if (!key) {
        return Unexpected{key.error()};
    }
    CheckWords words{*key, {}, 0, 1};
    if (!read_plans(body, words)) {
        return Unexpected{bad("invalid_plans", "plans must be an array of 1 to 16 names of plans.")};
    }
    const auto tokens = read_tokens(body);
    if (!tokens) {
        return Unexpected{tokens.error()};
    }
    words.tokens = *tokens;
    return words;
}

Result<std::vector<std::string_view>, Problem> read_plan_names(std::string_view text) {
    std::vector<std::string_view> names;
    for (bool more = !text.empty(); more;) {
        const auto comma = text.find(',');
        names.push_back(text.substr(0, comma));
        more = comma != std::string_view::npos;
        text = more ? text.substr(comma + 1) : std::string_view{};
    }
    if (names.size() > kPlansPerCheckMax) {
        return Unexpected{bad("invalid_plans", "At most 16 plans can be named.")};
    }
    return names;
}

Result<LeaseId, Problem> read_lease(const json::object& body) {
    const auto text = read_text(body, "lease", "invalid_lease");
    if (!text) {
        return Unexpected{text.error()};
    }
    const std::string_view digits = text->value_or("");
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) {
        return Unexpected{bad("invalid_lease", "lease must be the text that a check answered.")};
    }
    return LeaseId{number};
}

Result<PlanDraft, Problem> read_plan(const json::object& body, const BodyFields& fields) {
    if (auto problem = check_known(body, fields)) {
        return Unexpected{*std::move(problem)};
    }
    PlanDraft draft;
    for (const TextField& field : kTexts) {
        const auto text = read_text(body, field.name, "invalid_plan");
        if (!text) {
            return Unexpected{text.error()};
        }
        draft.*field.member = text->value_or("");
    }
    for (const NumberField& field : kNumbers) {
        const auto number = read_integer(body, field.name, {1, kExactMax - 1});
        if (!number) {
            return Unexpected{number.error()};
        }
        draft.*field.member = *number;
    }
    const json::value* shadow = body.if_contains("shadow");
    if (shadow != nullptr && !shadow->is_bool()) {
        return Unexpected{bad_field("invalid_flag", "shadow", "must be true or false.")};
    }
    draft.shadow = shadow != nullptr && shadow->get_bool();
    return draft;
}

Result<OverrideEnd, Problem> read_end(const json::object& body, Instant now) {
    const auto until = read_text(body, "until", "invalid_time");
    const auto ttl = read_text(body, "ttl", "invalid_duration");
    if (!until || !ttl) {
        return Unexpected{!until ? until.error() : ttl.error()};
    }
    if (until->has_value() == ttl->has_value()) {
        return Unexpected{bad("invalid_time", "An override needs either until, a time, or ttl, a duration.")};
    }
    if (*ttl) {
        const auto length = parse_duration(**ttl);
        return length ? Result<OverrideEnd, Problem>{Wait{*length}}
                      : Unexpected{bad_field("invalid_duration", "ttl",
                                             "must be an ISO-8601 duration like PT1H, at most P31D.")};
    }
    const auto end = read_time("until", **until, now + kTenYears);
    return end ? Result<OverrideEnd, Problem>{OverrideEnd{Moment{*end}}} : Unexpected{end.error()};
}

}  // namespace sluice::http
