#pragma once

#include <span>

#include "app/dispatch/carriers.hpp"
#include "app/slots/slot_service.hpp"
#include "door/http/route.hpp"
#include "door/http/slot_json.hpp"

namespace sluice::http {

// What the routes of slots work with. All of it outlives the server.
struct SlotDesk : Desk {
    SlotDesk(SlotService& service, ConfigName usual, const Clock& time, Log& lines,
             const Carriers* carrying = nullptr)
        : slots{service}, default_config{std::move(usual)}, clock{time}, log{lines}, carriers{carrying} {}

    SlotService& slots;
    ConfigName default_config;
    const Clock& clock;
    Log& log;
    const Carriers* carriers;  // Null: the store keeps no work, and events that bring some are refused.
};

// What bodies may leave out.
inline BodyDefaults body_defaults(const SlotDesk& desk, std::string_view traceparent = {}) {
    return {desk.default_config, std::nullopt, desk.clock.now() + kTenYears, {desk.carriers, traceparent}};
}

std::span<const Route> slot_routes();

Answer assign_slot(const SlotDesk& desk, const Request& request);
Answer assign_batch(const SlotDesk& desk, const Request& request);
Answer quote_slot(const SlotDesk& desk, const Request& request);
Answer get_slot(const SlotDesk& desk, const Request& request);
Answer cancel_slot(const SlotDesk& desk, const Request& request);
Answer move_slot(const SlotDesk& desk, const Request& request);
Answer list_windows(const SlotDesk& desk, const Request& request);

// Events come in as lines, slots go out as lines in the same order while more come in. Memory is constant:
// when the client does not read, nothing more is read from it. False when the connection is at its end.
boost::asio::awaitable<bool> stream_slots(const SlotDesk& desk, StreamCall call);

Answer get_config(const SlotDesk& desk, const Request& request);
Answer set_config(const SlotDesk& desk, const Request& request);
Answer get_config_history(const SlotDesk& desk, const Request& request);
Answer list_configs(const SlotDesk& desk, const Request& request);
Answer flush_cache(const SlotDesk& desk, const Request& request);

}  // namespace sluice::http
