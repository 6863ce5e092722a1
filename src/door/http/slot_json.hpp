#pragma once

#include <string>

#include <boost/json/object.hpp>

#include "base/result.hpp"
#include "base/time.hpp"
#include "door/http/problem.hpp"

namespace sluice::http {

// What holds for a body where its fields are silent.
struct BodyDefaults {
    ConfigName config_name;
    std::optional<Instant> requested{};  // Without it, the body must say.
    Instant latest;                      // Nothing may be requested for later than this.
};

// Readers. A problem names the field and what is wrong with it; nothing was changed. Fields that do not
// belong there come first (unknown_field).
Result<AssignSlot, Problem> read_assignment(const boost::json::object& body, const BodyDefaults& defaults);
// What a batch says for all of its events.
Result<BodyDefaults, Problem> read_batch_defaults(const boost::json::object& body, BodyDefaults defaults);
Result<QuoteRequest, Problem> read_quote(const boost::json::object& body, const BodyDefaults& defaults);
// When a slot is to be moved to.
Result<Instant, Problem> read_move(const boost::json::object& body, Instant latest);
Result<ConfigDraft, Problem> read_config(const boost::json::object& body);
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
