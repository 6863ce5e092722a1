#pragma once

#include "app/slots/slot_store.hpp"
#include "base/log.hpp"
#include "store/postgres/connection_pool.hpp"

namespace sluice::postgres {

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
    Result<Rows, Failure> insist(const Statement& statement, const Parameters& parameters);

    // What a caller is told who can do nothing about it.
    SlotError unavailable(const Failure& failure);

private:
    void tell(const Failure& failure);

    ConnectionPool& pool_;
    Log& log_;
};

}  // namespace sluice::postgres
