#include <algorithm>
#include <charconv>

#include <boost/json/array.hpp>

#include "base/iso8601.hpp"
#include "base/name.hpp"
#include "door/http/json_fields.hpp"
#include "door/http/limit_json.hpp"

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

struct TextField {
    std::string_view name;
    std::string PlanDraft::*member;
};
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
constexpr std::array<NumberField, 3> kNumbers{{{"capacity", &PlanDraft::capacity},
                                               {"max_per_hour", &PlanDraft::max_per_hour},
                                               {"lease", &PlanDraft::lease}}};

bool is_plan_field(std::string_view name) {
    const auto same = [name](const auto& field) { return field.name == name; };
    return name == "shadow" || std::any_of(kTexts.begin(), kTexts.end(), same) ||
           std::any_of(kNumbers.begin(), kNumbers.end(), same);
}

}  // namespace

Result<std::string_view, Problem> read_key(std::string_view text) {
    if (text.empty() || text.size() > kLimitKeyBytesMax || !is_printable_utf8(text)) {
        return Unexpected{
            bad("invalid_key", "key must be 1 to 256 bytes of UTF-8 without control characters.")};
    }
    return text;
}

Result<CheckWords, Problem> read_check(const json::object& body) {
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

Result<PlanDraft, Problem> read_plan(const json::object& body, std::initializer_list<std::string_view> also) {
    for (const auto& field : body) {
        const std::string_view name{field.key().data(), field.key().size()};
        if (!is_plan_field(name) && std::find(also.begin(), also.end(), name) == also.end()) {
            return Unexpected{bad_field("unknown_field", name, "is not a field of a plan.")};
        }
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

Result<Moment, Problem> read_end(const json::object& body, Instant now) {
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
        return length ? Result<Moment, Problem>{Moment{now + *length}}
                      : Unexpected{bad_field("invalid_duration", "ttl",
                                             "must be an ISO-8601 duration like PT1H, at most P31D.")};
    }
    const auto end = parse_instant(**until);
    if (!end || *end > now + kTenYears) {
        return Unexpected{bad_field("invalid_time", "until",
                                    "must be an ISO-8601 time with an offset, at most ten years away.")};
    }
    return Moment{*end};
}

}  // namespace sluice::http
