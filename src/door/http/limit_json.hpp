#pragma once

#include <array>
#include <string>

#include <boost/json/object.hpp>

#include "app/limits/limit_service.hpp"
#include "door/http/json_fields.hpp"

namespace sluice::http {

// A check as a body or a query words it. The views live as long as what was read.
struct CheckWords {
    std::string_view key;
    std::array<std::string_view, kPlansPerCheckMax> plans;
    std::size_t count = 0;
    Tokens tokens = 1;

    [[nodiscard]] LimitQuestion question() const { return {key, {plans.data(), count}, tokens}; }
};

// What each kind of body has.
extern const BodyFields kPlanFields;
extern const BodyFields kOverrideFields;
extern const BodyFields kCheckBatchFields;
extern const BodyFields kReleaseFields;

// Readers. A problem names the field and what is wrong with it; nothing was changed.
Result<CheckWords, Problem> read_check(const boost::json::object& body);
// A key as HTTP takes it: 1 to 256 bytes of UTF-8 without control characters.
Result<std::string_view, Problem> read_key(std::string_view text);
// `gold,daily`: the names in a query. None when the text is empty.
Result<std::vector<std::string_view>, Problem> read_plan_names(std::string_view text);
Result<LeaseId, Problem> read_lease(const boost::json::object& body);
// The fields of a plan, all of them optional here, in a body that has `fields`.
Result<PlanDraft, Problem> read_plan(const boost::json::object& body, const BodyFields& fields);
// When an override ends: `until`, or `ttl` from when the store has it.
Result<OverrideEnd, Problem> read_end(const boost::json::object& body, Instant now);

// Writers.
void append_answer(std::string& json, const LimitAnswer& answer);
void append_plan(std::string& json, const BookedPlan& booked);
std::string standings_json(std::string_view key, const std::vector<KeyStanding>& standings);

// RateLimit-Policy, RateLimit and Retry-After: header lines, each with its line end. The plans are those that
// were asked for.
std::string rate_limit_headers(const LimitAnswer& answer, std::span<const std::string_view> plans);

// In whole units, rounded up: what is told is never too early.
std::int64_t milliseconds_up(Wait wait);
std::int64_t seconds_up(Wait wait);

}  // namespace sluice::http
