#pragma once

#include <mutex>

#include "app/dispatch/work_news.hpp"
#include "app/slots/ledger_state.hpp"

namespace sluice {

// What a ledger of slots lets the ledger of its works use. There is one writer: all of it is done under the
// lock of the slots, and after a failure nothing is done until the tables were read anew.
// Thread safety: lock(), news() and now(); all the rest REQUIRES the lock.
class LedgerAccess {
public:
    virtual ~LedgerAccess() = default;

    [[nodiscard]] virtual std::unique_lock<std::mutex> lock() = 0;
    // What is told of changes, once the lock is given back.
    [[nodiscard]] virtual WorkNews& news() = 0;
    [[nodiscard]] virtual Instant now() const = 0;

    // False: nothing may be changed now, and what is in memory says nothing.
    [[nodiscard]] virtual bool recovered() = 0;
    [[nodiscard]] virtual LedgerState& state() = 0;
    [[nodiscard]] virtual StoreRoom room() = 0;

    // Durable when it returns, and noted in the state; true: it is news. After an error the ledger has
    // stopped.
    virtual Result<bool, StoreError> commit(const SlotChanges& changes) = 0;
    // Something could not be read: the ledger stops.
    virtual void stop(const StoreError& error) = 0;
};

}  // namespace sluice
