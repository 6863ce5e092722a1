#include "door/http/slot_desk.hpp"

namespace sluice::http {
namespace {

// Of any JSON body.
constexpr std::string_view kBadBody = "malformed_json invalid_number unknown_field";
constexpr std::string_view kBadEvent =
    "invalid_event_id not_supported invalid_config_name invalid_time time_out_of_range invalid_number "
    "invalid_duration";
// Why the work that an event brings is not taken.
constexpr std::string_view kBadWork =
    "invalid_target target_not_configured credentials_in_url forbidden_address payload_too_large";
// Why an event that can be read gets no slot.
constexpr std::string_view kNoSlot = "weight_above_cap config_not_found cancelled different_body";
constexpr std::string_view kNoPlaceNow = "exhausted contended";
constexpr std::string_view kStoreCannotWrite = "store_unavailable store_full contended";
constexpr std::string_view kStoreCannotRead = "store_unavailable";
constexpr std::string_view kLines = "application/x-ndjson";

constexpr std::array kAssignSlot{
    gives(200, "Slot"),
    refuses(400, kBadBody),
    refuses(400, kBadEvent),
    refuses(400, kBadWork),
    refuses(400, "weight_above_cap"),
    refuses(404, "config_not_found"),
    refuses(409, "cancelled"),
    refuses(422, "different_body"),
    refuses(503, kNoPlaceNow),
    refuses(503, kStoreCannotWrite),
};
constexpr std::array kAssignBatch{
    gives(200, "BatchResults"),
    refuses(400, kBadBody),
    refuses(400, "invalid_flag invalid_events"),
    refuses(400, kBadEvent),
    refuses(400, kBadWork),
    refuses(409, kNoSlot),
    refuses(409, kNoPlaceNow),
    refuses(503, "store_unavailable store_full"),
};
constexpr std::array kStreamSlots{
    among("line_too_long", gives(200, "SlotLines", kLines)),
};
constexpr std::array kQuoteSlot{
    gives(200, "Quote"),       refuses(400, kBadBody),           refuses(400, kBadEvent),
    refuses(400, kBadWork),    refuses(400, "weight_above_cap"), refuses(404, "config_not_found"),
    refuses(409, "cancelled"), refuses(503, kNoPlaceNow),        refuses(503, kStoreCannotRead),
};
constexpr std::array kGetSlot{
    gives(200, "SlotStory"),
    refuses(400, "invalid_event_id"),
    refuses(404, "event_not_found"),
    refuses(503, kStoreCannotRead),
};
constexpr std::array kCancelSlot{
    gives_nothing(204),
    refuses(400, "invalid_event_id"),
    refuses(404, "event_not_found"),
    refuses(409, "already_dispatched"),
    refuses(503, kStoreCannotWrite),
};
constexpr std::array kMoveSlot{
    gives(200, "Slot"),
    refuses(400, kBadBody),
    refuses(400, "invalid_event_id invalid_time time_out_of_range weight_above_cap"),
    refuses(404, "event_not_found"),
    refuses(409, "cancelled already_dispatched"),
    refuses(503, kNoPlaceNow),
    refuses(503, kStoreCannotWrite),
};
constexpr std::array kListWindows{
    gives(200, "Windows"),
    refuses(400, "invalid_config_name invalid_time time_out_of_range range_too_large"),
    refuses(404, "config_not_found"),
    refuses(503, kStoreCannotRead),
};

constexpr std::array kGetConfig{
    gives(200, "Config"),
    refuses(400, "invalid_config_name"),
    refuses(404, "config_not_found"),
    refuses(503, kStoreCannotRead),
};
constexpr std::array kSetConfig{
    gives(200, "Config"),
    refuses(400, kBadBody),
    refuses(400,
            "not_supported invalid_spread invalid_past invalid_config_name invalid_pool invalid_number "
            "invalid_duration invalid_rate_holds"),
    refuses(409, "window_size_in_use pool_window_size"),
    refuses(503, kStoreCannotWrite),
};
constexpr std::array kGetConfigHistory{
    gives(200, "ConfigHistory"),
    refuses(400, "invalid_config_name"),
    refuses(404, "config_not_found"),
    refuses(503, kStoreCannotRead),
};
constexpr std::array kListConfigs{
    gives(200, "Configs"),
    refuses(503, kStoreCannotRead),
};
constexpr std::array kFlushConfigCache{
    gives(200, "Status"),
    refuses(503, kStoreCannotRead),
};

constexpr std::array kRoutes{
    Route{"POST", "/api/v1/slots", "assignSlot", on<assign_slot>(), kAssignSlot, json_body("Assignment")},
    Route{"POST", "/api/v1/slots/batch", "assignBatch", on<assign_batch>(), kAssignBatch,
          json_body("Batch", kBatchBytesMax)},
    Route{"POST", "/api/v1/slots/stream", "streamSlots", on<stream_slots>(), kStreamSlots,
          lines_body("EventLines")},
    Route{"POST", "/api/v1/slots/quote", "quoteSlot", on<quote_slot>(), kQuoteSlot,
          json_body("QuoteRequest")},
    Route{"GET", "/api/v1/slots/{eventId}", "getSlot", on<get_slot>(), kGetSlot},
    telling_who({"DELETE", "/api/v1/slots/{eventId}", "cancelSlot", on<cancel_slot>(), kCancelSlot}),
    telling_who(
        {"POST", "/api/v1/slots/{eventId}/move", "moveSlot", on<move_slot>(), kMoveSlot, json_body("Move")}),
    Route{"GET", "/api/v1/windows", "listWindows", on<list_windows>(), kListWindows},
    guarded({"GET", "/admin/rate-limit/config", "getConfig", on<get_config>(), kGetConfig}),
    guarded({"POST", "/admin/rate-limit/config", "setConfig", on<set_config>(), kSetConfig,
             json_body("ConfigDraft")}),
    guarded({"GET", "/admin/rate-limit/config/history", "getConfigHistory", on<get_config_history>(),
             kGetConfigHistory}),
    guarded({"GET", "/admin/rate-limit/configs", "listConfigs", on<list_configs>(), kListConfigs}),
    guarded(
        {"POST", "/admin/rate-limit/cache/flush", "flushConfigCache", on<flush_cache>(), kFlushConfigCache}),
};

}  // namespace

std::span<const Route> slot_routes() { return kRoutes; }

}  // namespace sluice::http
