#pragma once

#include "app/slots/known_event.hpp"
#include "app/slots/slot_ledger.hpp"
#include "store/postgres/config_reader.hpp"

namespace sluice::postgres {

// Assigns slots one by one, each by a call of the SQL function that applications use too and in a transaction
// of its own; the calls of a batch follow each other without waiting for answers.
// Thread safety: all of it; every call works on a connection of its own.
class FunctionAssigner {
public:
    FunctionAssigner(ConnectionPool& pool, ConfigReader& configs, LedgerWorld world, Bodies bodies)
        : pool_{pool}, configs_{configs}, world_{world}, bodies_{bodies} {}

    // One outcome per event, in order.
    std::vector<SlotOutcome> assign_each(std::span<const AssignSlot* const> events);

private:
    // Empty: to be tried again.
    using Attempted = std::vector<std::optional<SlotOutcome>>;
    void attempt(std::span<const AssignSlot* const> events, Attempted& outcomes);
    void report(std::span<const Result<Rows, Failure>> replies) const;
    std::optional<SlotOutcome> outcome_of(const AssignSlot& event, const Result<Rows, Failure>& rows);
    SlotOutcome refusal_of(const AssignSlot& event, const Failure& failure);

    ConnectionPool& pool_;
    ConfigReader& configs_;
    const LedgerWorld world_;
    const Bodies bodies_;
};

}  // namespace sluice::postgres
