#pragma once

#include "app/slots/slot_ledger.hpp"
#include "store/postgres/slots/brought_work.hpp"
#include "store/postgres/slots/config_reader.hpp"
#include "store/postgres/slots/held_events.hpp"

namespace sluice::postgres {

// Assigns slots one by one, each by a call of the SQL function that applications use too and in a transaction
// of its own; the calls of a batch follow each other without waiting for answers. An event that another
// transaction holds keeps the others for a moment only, and is tried again behind them.
// Thread safety: all of it; every call works on a connection of its own.
class FunctionAssigner {
public:
    FunctionAssigner(ConnectionSource& pool, ConfigReader& configs, HeldEvents& held, LedgerWorld world,
                     Bodies bodies)
        : pool_{pool}, configs_{configs}, held_{held}, world_{world}, bodies_{bodies} {}

    // One outcome per event, in order.
    std::vector<SlotOutcome> assign_each(std::span<const AssignSlot* const> events);

private:
    struct Tried {
        std::optional<SlotOutcome> outcome{};  // Empty: to be tried again.
        bool is_held = false;                  // By another transaction, not for long yet.
    };
    using Attempted = std::vector<Tried>;
    void attempt(std::span<const AssignSlot* const> events, Attempted& outcomes);
    void report(std::span<const Result<Rows, Failure>> replies) const;
    // The orders that the work of these events is compared with.
    Result<StoredOrders, Failure> orders_for(Connection& connection,
                                             std::span<const AssignSlot* const> events) const;
    Tried outcome_of(const AssignSlot& event, const Result<Rows, Failure>& rows, bool was_held,
                     const Result<StoredOrders, Failure>& orders);
    SlotOutcome refusal_of(const AssignSlot& event, const Failure& failure);

    ConnectionSource& pool_;
    ConfigReader& configs_;
    HeldEvents& held_;
    const LedgerWorld world_;
    const Bodies bodies_;
};

}  // namespace sluice::postgres
