#include "base/iso8601.hpp"
#include "base/json_text.hpp"
#include "door/http/slot_json.hpp"

namespace sluice::http {
namespace {

void append_time(std::string& json, std::string_view field, Instant instant) {
    json += '"';
    json += field;
    json += "\":\"";
    json += format_instant(instant);
    json += '"';
}

void append_number(std::string& json, std::string_view field, std::int64_t number) {
    json += '"';
    json += field;
    json += "\":";
    json += std::to_string(number);
}

void append_text(std::string& json, std::string_view field, std::string_view text) {
    json += '"';
    json += field;
    json += "\":";
    append_json_string(json, text);
}

std::string_view state_text(const Slot& slot) {
    return slot.state == SlotState::Cancelled ? "cancelled" : "assigned";
}

// One step of an event's history. What came first was assigned, what came later was moved or cancelled.
void append_step(std::string& json, const Slot& slot) {
    json += '{';
    append_text(
        json, "change",
        slot.state == SlotState::Cancelled ? "cancelled" : (slot.revision == 0 ? "assigned" : "moved"));
    json += ',';
    append_time(json, "at", slot.since);
    json += ',';
    append_time(json, "requestedTime", slot.requested);
    json += ',';
    append_time(json, "scheduledTime", slot.scheduled);
    json += ',';
    append_text(json, "configId", config_id_text(slot.config_id));
    json += '}';
}

void append_config(std::string& json, const ConfigVersion& config) {
    json += '{';
    append_text(json, "configId", config_id_text(config.id));
    json += ',';
    append_text(json, "configName", config.terms.name.text());
    json += ',';
    append_number(json, "maxPerWindow", config.terms.max_per_window);
    json += ',';
    append_text(json, "windowSize", format_duration(config.terms.window_size));
    json += ',';
    append_text(json, "pool", config.terms.pool.text());
    json += ',';
    append_text(json, "spread", name_of(config.terms.spread));
    if (config.terms.max_lookahead) {
        json += ',';
        append_number(json, "maxLookahead", *config.terms.max_lookahead);
    }
    json += ',';
    append_text(json, "past", name_of(config.terms.past));
    append_dispatch(json, config.terms.dispatch);
    json += ',';
    append_time(json, "effectiveFrom", config.effective_from);
    json += config.active ? R"(,"active":true})" : R"(,"active":false})";
}

std::string config_list(std::string_view field, const std::vector<ConfigVersion>& configs) {
    std::string json = "{\"";
    json += field;
    json += "\":[";
    for (const ConfigVersion& config : configs) {
        if (json.back() != '[') {
            json += ',';
        }
        append_config(json, config);
    }
    json += "]}";
    return json;
}

}  // namespace

void append_slot(std::string& json, const Slot& slot) {
    json += R"({"eventId":)";
    append_json_string(json, slot.event_id.text());
    json += ',';
    append_time(json, "scheduledTime", slot.scheduled);
    json += ',';
    append_number(json, "delayMs", slot.delay().count());
    json += '}';
}

void append_failed(std::string& json, std::optional<std::string_view> event_id, const Problem& problem) {
    json += R"({"eventId":)";
    if (event_id) {
        append_json_string(json, *event_id);
    } else {
        json += "null";
    }
    json += R"(,"error":)";
    append_problem(json, problem);
    json += '}';
}

std::string slot_json(const Slot& slot) {
    std::string json;
    json.reserve(128);
    append_slot(json, slot);
    return json;
}

std::string quote_json(const Slot& slot) {
    std::string json = "{";
    append_time(json, "scheduledTime", slot.scheduled);
    json += ',';
    append_number(json, "delayMs", slot.delay().count());
    json += '}';
    return json;
}

std::string story_json(const SlotStory& story) {
    const Slot& slot = story.slot;
    std::string json = "{";
    append_text(json, "eventId", slot.event_id.text());
    json += ',';
    append_time(json, "scheduledTime", slot.scheduled);
    json += ',';
    append_number(json, "delayMs", slot.delay().count());
    json += ',';
    append_time(json, "requestedTime", slot.requested);
    json += ',';
    append_time(json, "windowStart", slot.window_start);
    json += ',';
    append_text(json, "configName", story.config_name.text());
    json += ',';
    append_text(json, "configId", config_id_text(slot.config_id));
    json += ',';
    append_number(json, "weight", slot.weight);
    if (slot.max_delay) {
        json += ',';
        append_text(json, "maxDelay", format_duration(*slot.max_delay));
    }
    json += ',';
    append_text(json, "state", state_text(slot));
    json += R"(,"history":[)";
    for (const Slot& past : story.past) {
        append_step(json, past);
        json += ',';
    }
    append_step(json, slot);
    json += ']';
    if (story.work) {
        append_work(json, *story.work);
    }
    json += '}';
    return json;
}

std::string windows_json(const WindowReport& report) {
    std::string json = R"({"windows":[)";
    for (const WindowFill& window : report.windows) {
        json += json.back() == '[' ? "{" : ",{";
        append_time(json, "start", window.start);
        json += ',';
        append_number(json, "count", window.count);
        json += ',';
        append_number(json, "max", report.max);
        json += '}';
    }
    json += "]}";
    return json;
}

std::string config_json(const ConfigVersion& config) {
    std::string json;
    append_config(json, config);
    return json;
}

std::string history_json(const std::vector<ConfigVersion>& versions) {
    return config_list("versions", versions);
}

std::string configs_json(const std::vector<ConfigVersion>& configs) {
    return config_list("configs", configs);
}

}  // namespace sluice::http
