#include <array>

#include <boost/json/array.hpp>

#include "base/iso8601.hpp"
#include "door/http/json_fields.hpp"
#include "door/http/raw_json.hpp"
#include "door/http/target_words.hpp"
#include "door/http/work_json.hpp"

namespace sluice::http {
namespace {

namespace json = boost::json;

using Order = std::shared_ptr<const WorkOrder>;

constexpr std::string_view kTemporal = "temporal";
// Of a target whose type is none of those that are known.
constexpr std::array<std::string_view, 5> kAnyTarget{"type", "url", "topic", "workflowType", "taskQueue"};

const TargetWords* words_of(const json::object& target) {
    const json::value* type = target.if_contains("type");
    for (const TargetWords& words : kTargetWords) {
        if (type != nullptr && type->is_string() && view(type->get_string()) == words.type) {
            return &words;
        }
    }
    return nullptr;
}

// The text of a field that must be there.
Result<std::string_view, Problem> required_text(const json::object& target, std::string_view field) {
    const auto text = read_text(target, field, "invalid_target");
    if (!text) {
        return Unexpected{text.error()};
    }
    if (!*text) {
        return Unexpected{bad_field("invalid_target", field, "is missing in target.")};
    }
    return **text;
}

Result<sluice::Target, Problem> read_target(const json::value& value) {
    const json::object* target = value.if_object();
    if (target == nullptr) {
        return Unexpected{
            bad_field("invalid_target", "target", "must be an object like {\"type\":\"log\"}.")};
    }
    const TargetWords* words = words_of(*target);
    if (words == nullptr) {
        const auto type = required_text(*target, "type");
        if (!type) {
            return Unexpected{type.error()};
        }
        return Unexpected{
            *type == kTemporal
                ? bad("not_supported", "Targets of type temporal are not supported by this version.")
                : bad("invalid_target", "The type of a target is 'webhook', 'kafka' or 'log'.")};
    }
    if (words->address.empty()) {
        return sluice::Target{words->kind};
    }
    const auto address = required_text(*target, words->address);
    if (!address) {
        return Unexpected{address.error()};
    }
    return sluice::Target{words->kind, std::string{*address}};
}

Result<std::string, Problem> read_payload(const EventBody& event) {
    if (!event.fields.contains("payload")) {
        return std::string{};
    }
    const std::string_view payload = raw_member(event.text, "payload");
    if (payload.size() > kPayloadMax) {
        return Unexpected{bad("payload_too_large", "payload has " + std::to_string(payload.size()) +
                                                       " bytes; it may have " + std::to_string(kPayloadMax) +
                                                       ".")};
    }
    return std::string{payload};
}

// What is given only together with a target.
std::optional<Problem> check_alone(const json::object& event) {
    for (const std::string_view field : {std::string_view{"payload"}, std::string_view{"expiresAfter"}}) {
        if (event.contains(field)) {
            return bad_field("invalid_target", field, "says nothing without a target.");
        }
    }
    return std::nullopt;
}

Result<std::optional<RetrySchedule>, Problem> read_schedule(const json::object& config) {
    constexpr std::string_view kField = "retrySchedule";
    const json::value* value = config.if_contains(kField);
    if (value == nullptr || value->is_null()) {
        return std::optional<RetrySchedule>{};
    }
    const json::array* list = value->if_array();
    if (list == nullptr || list->size() > RetrySchedule::kPausesMax) {
        return Unexpected{bad_field("invalid_duration", kField,
                                    "must be a list of at most " + std::to_string(RetrySchedule::kPausesMax) +
                                        " durations like PT5S, or null.")};
    }
    std::vector<Duration> pauses;
    for (const json::value& one : *list) {
        const auto pause = parse_duration(one.is_string() ? view(one.get_string()) : "");
        if (!pause) {
            return Unexpected{bad_field("invalid_duration", kField,
                                        "must hold ISO-8601 durations like PT5S: positive, in whole "
                                        "milliseconds, at most P31D.")};
        }
        pauses.push_back(*pause);
    }
    return std::optional{RetrySchedule{std::move(pauses)}};
}

}  // namespace

std::optional<Problem> check_target(const json::object& event) {
    const json::value* value = event.if_contains("target");
    const json::object* target = value == nullptr ? nullptr : value->if_object();
    if (target == nullptr) {
        return std::nullopt;
    }
    const TargetWords* words = words_of(*target);
    if (words == nullptr) {
        return check_known(*target, {"a target", kAnyTarget});
    }
    const std::array<std::string_view, 2> fields{"type", words->address};
    return check_known(*target, {"this target", std::span{fields}.first(words->address.empty() ? 1 : 2)});
}

Result<Order, Problem> read_work(const EventBody& event, const WorkTerms& terms) {
    const json::value* value = event.fields.if_contains("target");
    if (value == nullptr) {
        auto problem = check_alone(event.fields);
        return problem ? Result<Order, Problem>{Unexpected{*std::move(problem)}} : Order{};
    }
    auto target = read_target(*value);
    if (!target) {
        return Unexpected{target.error()};
    }
    const Carrier* carrier = terms.carriers->find(target->kind);
    if (carrier == nullptr) {
        return Unexpected{bad("target_not_configured", "This server carries nothing to targets of type " +
                                                           std::string{words_of(target->kind).type} + ".")};
    }
    auto route = carrier->route(*target);
    if (!route) {
        return Unexpected{bad(route.error().code, std::move(route.error().detail))};
    }
    auto payload = read_payload(event);
    if (!payload) {
        return Unexpected{payload.error()};
    }
    const auto expires_after = read_duration(event.fields, "expiresAfter");
    if (!expires_after) {
        return Unexpected{expires_after.error()};
    }
    return Order{std::make_shared<const WorkOrder>(WorkOrder{*std::move(target), *std::move(route),
                                                             *std::move(payload), *expires_after,
                                                             std::string{terms.traceparent}})};
}

Result<RateHolds, Problem> read_rate_holds(const json::object& body) {
    const auto text = read_text(body, "rateHolds", "invalid_rate_holds");
    if (!text) {
        return Unexpected{text.error()};
    }
    for (const RateHolds holds : {RateHolds::Receiver, RateHolds::Sender}) {
        if (text->value_or(name_of(RateHolds::Receiver)) == name_of(holds)) {
            return holds;
        }
    }
    return Unexpected{bad("invalid_rate_holds", "rateHolds must be 'receiver' or 'sender'.")};
}

Result<DispatchDraft, Problem> read_dispatch(const json::object& config) {
    const auto rate = read_integer(config, "maxPerSecond", {1, kRateMax});
    if (!rate) {
        return Unexpected{rate.error()};
    }
    const auto holds = read_rate_holds(config);
    if (!holds) {
        return Unexpected{holds.error()};
    }
    if (!*rate && config.contains("rateHolds")) {
        return Unexpected{bad("invalid_rate_holds", "rateHolds says nothing without maxPerSecond.")};
    }
    const auto expires_after = read_duration(config, "expiresAfter");
    if (!expires_after) {
        return Unexpected{expires_after.error()};
    }
    auto retries = read_schedule(config);
    if (!retries) {
        return Unexpected{retries.error()};
    }
    DispatchDraft draft{std::nullopt, *expires_after, *std::move(retries)};
    if (*rate) {
        draft.rate = GateTerms{static_cast<std::uint32_t>(**rate), *holds};
    }
    return draft;
}

}  // namespace sluice::http
