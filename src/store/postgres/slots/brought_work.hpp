#pragma once

#include <map>
#include <string>

#include "app/slots/known_event.hpp"
#include "store/postgres/client/connection.hpp"

// The work that events bring along.
namespace sluice::postgres {

// What events bring to one transaction, for sluice.add_works(). Their slots are stored before.
class BroughtWorks {
public:
    void add(const EventId& event_id, const WorkOrder& order);
    [[nodiscard]] bool empty() const { return empty_; }
    void queue_storing(Connection& connection) const;

private:
    bool empty_ = true;
    ArrayText events_;
    ArrayText targets_;
    ArrayText addresses_;
    ArrayText hosts_;
    ArrayText endpoints_;
    ArrayText payloads_;
    ArrayText expires_after_;
    ArrayText traceparents_;
};

// What one event brings, $1, as the parameters of a statement from $8 on.
#define SLUICE_BROUGHT_WORK                                                           \
    "row($1, $8::smallint, $9::text, $10::text, $11::text, $12::bytea, $13::bigint, " \
    "$14::text)::sluice.brought_work"
void add_work(Parameters& parameters, const WorkOrder& order);

// Whether the work of this command matters to a store that treats bodies so.
inline bool compares_work(const AssignSlot& command, Bodies bodies) {
    return bodies == Bodies::MustAgree && command.work != nullptr;
}

// The orders of events, as far as they have one: what the work of repeats is compared with.
using StoredOrders = std::map<std::string, WorkOrder, std::less<>>;
void queue_reading_orders(Connection& connection, const ArrayText& events);
Result<StoredOrders, Failure> read_orders(const Rows& rows);
// Null: it has none.
const WorkOrder* find_order(const StoredOrders& orders, const EventId& event_id);

// What is known of an event: its slot, and its order if that matters to who asks.
struct KnownEvent {
    const Slot& slot;
    const ConfigName& config;
    const WorkOrder* order;  // Null: it has none.
};
SlotOutcome answer_repeat(const KnownEvent& known, const AssignSlot& command, Bodies bodies);

}  // namespace sluice::postgres
