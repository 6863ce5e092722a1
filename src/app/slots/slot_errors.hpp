#pragma once

#include "app/slots/slot_store.hpp"

// What callers are told when a slot is not given, in one place and the same for every store.
namespace sluice {

SlotError store_unavailable();
SlotError store_full();
SlotError unknown_config(const ConfigName& name);
SlotError unknown_event(const EventId& id);
SlotError event_cancelled(const EventId& id);
SlotError different_body(const EventId& id);
SlotError no_room(const SlotPolicy& policy, const SlotAsk& ask);
SlotError weight_above_cap(const ConfigVersion& config);
SlotError contended();
SlotError pool_has_other_size(const PoolName& pool, Duration window_size);
SlotError window_size_in_use(const PoolName& pool, Duration window_size);
SlotError recut_overflows();
SlotError range_too_large();
SlotError already_dispatched(const EventId& id);

// The reply that gives `error` to everyone whom the command names.
// REQUIRES: a command that names an event.
SlotReply refuse(const SlotCommand& command, const SlotError& error);

}  // namespace sluice
