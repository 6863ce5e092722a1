#pragma once

#include "base/log.hpp"
#include "store/postgres/client/connection_pool.hpp"

namespace sluice::postgres {

// How long something is tried again, and the pause between two tries, as pause_before_retry() takes it.
struct Patience {
    std::chrono::milliseconds total{2000};
    std::chrono::milliseconds pause{5};
};

// Runs single statements on connections of the pool.
// Thread safety: all of it.
class PatientCaller {
public:
    // `component`: whom the log's lines are from.
    PatientCaller(ConnectionSource& pool, Log& log, std::string component)
        : pool_{pool}, log_{log}, component_{std::move(component)} {}

    Result<Lease, Failure> take_connection();

    // Once.
    Result<Rows, Failure> call(const Statement& statement, const Parameters& parameters);
    // Again and again, until it is neither contended nor of unknown outcome, or patience is over.
    // REQUIRES: a statement that may be run again.
    Result<Rows, Failure> insist(const Statement& statement, const Parameters& parameters,
                                 Patience patience = {});

    // Tells the log of what callers only see as "unavailable".
    void tell(const Failure& failure);

private:
    ConnectionSource& pool_;
    Log& log_;
    const std::string component_;
};

}  // namespace sluice::postgres
