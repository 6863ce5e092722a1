#pragma once

#include <string>

#include <boost/json/object.hpp>

#include "base/result.hpp"
#include "base/time.hpp"
#include "door/http/problem.hpp"
#include "door/http/work_json.hpp"

namespace sluice::http {

// What holds for a body where its fields are silent.
struct BodyDefaults {
    ConfigName config_name;
    std::optional<Instant> requested{};  // Without it, the body must say.
    Instant latest;                      // Nothing may be requested for later than this.
    WorkTerms work{};
};

// Whether the store keeps the work of events. If not, what is said of it is refused (not_supported).
enum class KeepsWork : std::uint8_t { No, Yes };

// An event as its body tells it.
struct EventRead {
    // Empty: the event has no valid id, or fields that do not belong there; it is refused in any case.
    std::optional<AssignSlot> command;
    // What is wrong. With a command it is a value, which is told only if the event is unknown.
    std::optional<Problem> problem;

    // From now on the event has this problem, if it has none that refuses it in any case.
    void spoil(const Problem& with);
    // What to tell of the command's error.
    [[nodiscard]] Problem refusal(const SlotError& error) const;
};

// Readers. A problem names the field and what is wrong with it; nothing was changed. Fields that do not
// belong there come first (unknown_field).
EventRead read_event(const EventBody& body, const BodyDefaults& defaults);
// Names the first field that does not belong into a batch.
std::optional<Problem> check_batch(const boost::json::object& body);
// What a batch says for all of its events.
Result<BodyDefaults, Problem> read_batch_defaults(const boost::json::object& body, BodyDefaults defaults);
Result<QuoteRequest, Problem> read_quote(const EventBody& body, const BodyDefaults& defaults);
// When a slot is to be moved to.
Result<Instant, Problem> read_move(const boost::json::object& body, Instant latest);
Result<ConfigDraft, Problem> read_config(const boost::json::object& body, KeepsWork keeps_work);
Result<EventId, Problem> read_event_id(std::string_view text);
Result<ConfigName, Problem> read_config_name(std::string_view text);
Result<Instant, Problem> read_time(std::string_view field, std::string_view text, Instant latest);
// What the body calls its event, however wrong the rest may be.
std::optional<std::string_view> claimed_event_id(const boost::json::object& body);
// False when the field is absent.
Result<bool, Problem> read_flag(const boost::json::object& body, std::string_view field);

// Writers.
void append_slot(std::string& json, const Slot& slot);
// A member of a batch or stream that got no slot. Without a readable id, eventId is null.
void append_failed(std::string& json, std::optional<std::string_view> event_id, const Problem& problem);
std::string slot_json(const Slot& slot);
std::string quote_json(const Slot& slot);
std::string story_json(const SlotStory& story);
std::string windows_json(const WindowReport& report);
std::string config_json(const ConfigVersion& config);
std::string history_json(const std::vector<ConfigVersion>& versions);
std::string configs_json(const std::vector<ConfigVersion>& configs);

}  // namespace sluice::http
