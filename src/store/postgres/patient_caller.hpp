#pragma once

#include "app/slots/slot_store.hpp"
#include "base/log.hpp"
#include "store/postgres/connection_pool.hpp"

namespace sluice::postgres {

// How long something is tried again, and how long the pause between two tries is, at least; at most it is
// twice that, so that several who wait for the same do not meet each time.
struct Patience {
    std::chrono::milliseconds total{2000};
    std::chrono::milliseconds pause{5};
};

// Runs single statements on connections of the pool, and tells the log of what callers only see as
// "unavailable".
// Thread safety: all of it.
class PatientCaller {
public:
    PatientCaller(ConnectionPool& pool, Log& log) : pool_{pool}, log_{log} {}

    Result<Lease, Failure> take_connection();

    // Once.
    Result<Rows, Failure> call(const Statement& statement, const Parameters& parameters);
    // Again and again, until it is neither contended nor of unknown outcome, or patience is over.
    // REQUIRES: a statement that may be run again.
    Result<Rows, Failure> insist(const Statement& statement, const Parameters& parameters,
                                 Patience patience = {});

    // What a caller is told who can do nothing about it.
    SlotError unavailable(const Failure& failure);

private:
    void tell(const Failure& failure);

    ConnectionPool& pool_;
    Log& log_;
};

}  // namespace sluice::postgres
