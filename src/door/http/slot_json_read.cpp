#include <array>

#include <boost/json/value.hpp>

#include "base/iso8601.hpp"
#include "door/http/json_fields.hpp"
#include "door/http/slot_json.hpp"

namespace sluice::http {
namespace {

namespace json = boost::json;

constexpr std::int64_t kLookaheadMax = 1'000'000'000;

constexpr std::array<std::string_view, 8> kEventKnown{
    "eventId", "configName", "requestedTime", "weight", "maxDelay", "target", "payload", "expiresAfter"};
constexpr std::size_t kWithoutWork = 5;
constexpr std::array<std::string_view, 4> kEventLater{"configNames", "target", "payload", "expiresAfter"};
constexpr std::size_t kLaterWithWork = 1;

// Work is a capability of the store: where that keeps none, its fields are refused as if they were not built.
BodyFields event_fields(const WorkTerms& work) {
    const std::span known{kEventKnown};
    const std::span later{kEventLater};
    return work.carriers == nullptr ? BodyFields{"an event", known.first(kWithoutWork), later}
                                    : BodyFields{"an event", known, later.first(kLaterWithWork)};
}

constexpr std::array<std::string_view, 4> kBatchKnown{"configName", "requestedTime", "atomic", "events"};
constexpr BodyFields kBatchFields{"a batch", kBatchKnown, kEventLater};

constexpr std::array<std::string_view, 1> kMoveKnown{"requestedTime"};
constexpr BodyFields kMoveFields{"a move", kMoveKnown};

constexpr std::array<std::string_view, 12> kConfigKnown{
    "configName",   "maxPerWindow", "windowSize",   "windowSizeSecs", "pool",         "spread",
    "maxLookahead", "past",         "maxPerSecond", "rateHolds",      "expiresAfter", "retrySchedule"};
constexpr std::size_t kConfigWithoutWork = 8;
constexpr std::array<std::string_view, 5> kConfigLater{"calendar", "maxPerSecond", "rateHolds",
                                                       "expiresAfter", "retrySchedule"};
constexpr std::size_t kConfigLaterWithWork = 1;

BodyFields config_fields(KeepsWork keeps_work) {
    const std::span known{kConfigKnown};
    const std::span later{kConfigLater};
    return keeps_work == KeepsWork::No ? BodyFields{"a config", known.first(kConfigWithoutWork), later}
                                       : BodyFields{"a config", known, later.first(kConfigLaterWithWork)};
}

Result<ConfigName, Problem> read_config_name_or(const json::object& body, std::string_view field,
                                                const std::optional<ConfigName>& otherwise) {
    const auto text = read_text(body, field, "invalid_config_name");
    if (!text) {
        return Unexpected{text.error()};
    }
    if (!*text && otherwise) {
        return *otherwise;
    }
    return read_config_name(text->value_or(""));
}

Result<Instant, Problem> read_time_field(const json::object& body, std::string_view field, Instant latest) {
    const auto text = read_text(body, field, "invalid_time");
    if (!text) {
        return Unexpected{text.error()};
    }
    if (!*text) {
        return Unexpected{bad_field("invalid_time", field, "is missing.")};
    }
    return read_time(field, **text, latest);
}

Result<SlotAsk, Problem> read_ask(const json::object& body, const BodyDefaults& defaults) {
    SlotAsk ask;
    if (body.if_contains("requestedTime") != nullptr || !defaults.requested) {
        const auto requested = read_time_field(body, "requestedTime", defaults.latest);
        if (!requested) {
            return Unexpected{requested.error()};
        }
        ask.requested = *requested;
    } else {
        ask.requested = *defaults.requested;
    }
    const auto weight = read_integer(body, "weight", {1, kMaxPerWindowLimit});
    if (!weight) {
        return Unexpected{weight.error()};
    }
    ask.weight = static_cast<Places>(weight->value_or(1));
    const auto max_delay = read_duration(body, "maxDelay");
    if (!max_delay) {
        return Unexpected{max_delay.error()};
    }
    ask.max_delay = *max_delay;
    return ask;
}

// What an event asks for.
struct Wish {
    ConfigName config_name;
    SlotAsk ask;
    std::shared_ptr<const WorkOrder> work;
};

// Names the first field that belongs neither into an event nor into its target.
std::optional<Problem> check_event(const json::object& body, const WorkTerms& work) {
    auto problem = check_known(body, event_fields(work));
    return problem || work.carriers == nullptr ? problem : check_target(body);
}

// REQUIRES: the body has no unknown fields.
Result<Wish, Problem> read_wish(const EventBody& body, const BodyDefaults& defaults) {
    if (auto problem = check_supported(body.fields, event_fields(defaults.work))) {
        return Unexpected{*std::move(problem)};
    }
    auto name = read_config_name_or(body.fields, "configName", defaults.config_name);
    if (!name) {
        return Unexpected{name.error()};
    }
    const auto ask = read_ask(body.fields, defaults);
    if (!ask) {
        return Unexpected{ask.error()};
    }
    Wish wish{*std::move(name), *ask, nullptr};
    if (defaults.work.carriers != nullptr) {
        auto work = read_work(body, defaults.work);
        if (!work) {
            return Unexpected{work.error()};
        }
        wish.work = *std::move(work);
    }
    return wish;
}

Result<Duration, Problem> read_window_size(const json::object& body) {
    const auto iso = read_duration(body, "windowSize");
    if (!iso) {
        return Unexpected{iso.error()};
    }
    const auto seconds = read_integer(
        body, "windowSizeSecs", {1, std::chrono::duration_cast<std::chrono::seconds>(kDurationMax).count()});
    if (!seconds) {
        return Unexpected{seconds.error()};
    }
    if (!*iso && !*seconds) {
        return Unexpected{bad("invalid_duration", "windowSize is missing; it is a duration like PT4S.")};
    }
    const Duration size = *iso ? **iso : std::chrono::seconds{**seconds};
    if (*seconds && size != std::chrono::seconds{**seconds}) {
        return Unexpected{bad("invalid_duration", "windowSize and windowSizeSecs disagree.")};
    }
    return size;
}

Result<Spread, Problem> read_spread(const json::object& body) {
    const auto text = read_text(body, "spread", "invalid_spread");
    if (!text) {
        return Unexpected{text.error()};
    }
    const auto spread = spread_named(text->value_or(name_of(Spread::Random)));
    if (!spread) {
        return Unexpected{bad("invalid_spread", "spread must be 'random' or 'stratified'.")};
    }
    return *spread;
}

Result<Past, Problem> read_past(const json::object& body) {
    const auto text = read_text(body, "past", "invalid_past");
    if (!text) {
        return Unexpected{text.error()};
    }
    const auto past = past_named(text->value_or(name_of(Past::AsSent)));
    if (!past) {
        return Unexpected{bad("invalid_past", "past must be 'asSent' or 'now'.")};
    }
    return *past;
}

// Cells of a stratified window are at least a millisecond long.
std::optional<Problem> check_cells(const ConfigDraft& draft) {
    if (draft.spread == Spread::Random) {
        return std::nullopt;
    }
    if (draft.max_per_window > draft.window_size.count()) {
        return bad(
            "invalid_spread",
            "spread 'stratified' takes at most one place for each millisecond of a window, which has " +
                std::to_string(draft.window_size.count()) + ".");
    }
    if (draft.max_per_window <= kCellsMax) {
        return std::nullopt;
    }
    return bad("invalid_spread",
               "spread 'stratified' takes at most " + std::to_string(kCellsMax) +
                   " places in a window: make maxPerWindow and windowSize smaller together.");
}

}  // namespace

Result<EventId, Problem> read_event_id(std::string_view text) {
    auto id = EventId::make(text);
    if (!id) {
        return Unexpected{
            bad("invalid_event_id", "eventId must be 1 to 255 bytes of UTF-8 without control characters.")};
    }
    return *std::move(id);
}

Result<ConfigName, Problem> read_config_name(std::string_view text) {
    auto name = ConfigName::make(text);
    if (!name) {
        return Unexpected{bad("invalid_config_name",
                              "configName must be 1 to 128 bytes of UTF-8 without control characters.")};
    }
    return *std::move(name);
}

Result<Instant, Problem> read_time(std::string_view field, std::string_view text, Instant latest) {
    const auto instant = parse_instant(text);
    if (!instant && instant.error() == TimeError::Malformed) {
        return Unexpected{bad_field("invalid_time", field,
                                    "must be an ISO-8601 time with an offset, like 2030-01-01T09:00:00Z.")};
    }
    if (!instant || *instant > latest) {
        return Unexpected{bad_field("time_out_of_range", field,
                                    "must lie between 1970 and " + format_instant(latest) + ".")};
    }
    return *instant;
}

std::optional<std::string_view> claimed_event_id(const json::object& body) {
    const json::value* id = body.if_contains("eventId");
    return id != nullptr && id->is_string() ? std::optional{view(id->get_string())} : std::nullopt;
}

Result<bool, Problem> read_flag(const json::object& body, std::string_view field) {
    const json::value* value = body.if_contains(field);
    if (value != nullptr && !value->is_bool()) {
        return Unexpected{bad_field("invalid_flag", field, "must be true or false.")};
    }
    return value != nullptr && value->get_bool();
}

void EventRead::spoil(const Problem& with) {
    if (command) {
        command->is_readable = false;
        problem = with;
    }
}

Problem EventRead::refusal(const SlotError& error) const {
    return problem && error.fault == SlotFault::UnknownEvent ? *problem : to_problem(error);
}

EventRead read_event(const EventBody& body, const BodyDefaults& defaults) {
    if (auto problem = check_event(body.fields, defaults.work)) {
        return {std::nullopt, std::move(problem)};
    }
    const auto text = read_text(body.fields, "eventId", "invalid_event_id");
    if (!text) {
        return {std::nullopt, text.error()};
    }
    auto event_id = read_event_id(text->value_or(""));
    if (!event_id) {
        return {std::nullopt, event_id.error()};
    }
    EventRead read{AssignSlot{*std::move(event_id), defaults.config_name, {}}, std::nullopt};
    auto wish = read_wish(body, defaults);
    if (!wish) {
        read.spoil(wish.error());
        return read;
    }
    read.command->config_name = std::move(wish->config_name);
    read.command->ask = wish->ask;
    read.command->work = std::move(wish->work);
    return read;
}

std::optional<Problem> check_batch(const json::object& body) { return check_known(body, kBatchFields); }

Result<BodyDefaults, Problem> read_batch_defaults(const json::object& body, BodyDefaults defaults) {
    if (auto problem = check_supported(body, kBatchFields)) {
        return Unexpected{*std::move(problem)};
    }
    auto name = read_config_name_or(body, "configName", defaults.config_name);
    if (!name) {
        return Unexpected{name.error()};
    }
    defaults.config_name = *std::move(name);
    if (body.if_contains("requestedTime") != nullptr) {
        const auto requested = read_time_field(body, "requestedTime", defaults.latest);
        if (!requested) {
            return Unexpected{requested.error()};
        }
        defaults.requested = *requested;
    }
    return defaults;
}

Result<QuoteRequest, Problem> read_quote(const EventBody& body, const BodyDefaults& defaults) {
    if (body.fields.contains("eventId")) {
        EventRead read = read_event(body, defaults);
        if (read.problem) {
            return Unexpected{*std::move(read.problem)};
        }
        return QuoteRequest{std::move(read.command->event_id), std::move(read.command->config_name),
                            read.command->ask};
    }
    if (auto problem = check_event(body.fields, defaults.work)) {
        return Unexpected{*std::move(problem)};
    }
    auto wish = read_wish(body, defaults);
    if (!wish) {
        return Unexpected{wish.error()};
    }
    return QuoteRequest{std::nullopt, std::move(wish->config_name), wish->ask};
}

Result<Instant, Problem> read_move(const json::object& body, Instant latest) {
    if (auto problem = check_known(body, kMoveFields)) {
        return Unexpected{*std::move(problem)};
    }
    return read_time_field(body, "requestedTime", latest);
}

Result<ConfigDraft, Problem> read_config(const json::object& body, KeepsWork keeps_work) {
    for (auto check : {check_known, check_supported}) {
        if (auto problem = check(body, config_fields(keeps_work))) {
            return Unexpected{*std::move(problem)};
        }
    }
    const auto spread = read_spread(body);
    if (!spread) {
        return Unexpected{spread.error()};
    }
    const auto past = read_past(body);
    if (!past) {
        return Unexpected{past.error()};
    }
    auto name = read_config_name_or(body, "configName", std::nullopt);
    if (!name) {
        return Unexpected{name.error()};
    }
    auto pool = read_config_name_or(body, "pool", *name);
    if (!pool) {
        return Unexpected{
            bad("invalid_pool", "pool must be 1 to 128 bytes of UTF-8 without control characters.")};
    }
    const auto max = read_integer(body, "maxPerWindow", {1, kMaxPerWindowLimit});
    if (!max) {
        return Unexpected{max.error()};
    }
    if (!*max) {
        return Unexpected{bad("invalid_number", "maxPerWindow is missing.")};
    }
    const auto window_size = read_window_size(body);
    if (!window_size) {
        return Unexpected{window_size.error()};
    }
    const auto lookahead = read_integer(body, "maxLookahead", {0, kLookaheadMax});
    if (!lookahead) {
        return Unexpected{lookahead.error()};
    }
    ConfigDraft draft{
        *name, static_cast<Places>(**max), *window_size, *PoolName::make(pool->text()), *lookahead, *spread,
        *past};
    if (auto problem = check_cells(draft)) {
        return Unexpected{*std::move(problem)};
    }
    auto dispatch = read_dispatch(body);
    if (!dispatch) {
        return Unexpected{dispatch.error()};
    }
    draft.dispatch = *std::move(dispatch);
    return draft;
}

}  // namespace sluice::http
