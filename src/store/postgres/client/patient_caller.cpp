#include "store/postgres/client/patient_caller.hpp"

#include "store/postgres/client/retry_pause.hpp"

namespace sluice::postgres {
namespace {

using std::chrono::steady_clock;

}  // namespace

Result<Lease, Failure> PatientCaller::take_connection() {
    return pool_.take(steady_clock::now() + kConnectionPatience);
}

Result<Rows, Failure> PatientCaller::call(const Statement& statement, const Parameters& parameters) {
    auto lease = take_connection();
    if (!lease) {
        return Unexpected{std::move(lease).error()};
    }
    return (*lease)->run(statement, parameters);
}

Result<Rows, Failure> PatientCaller::insist(const Statement& statement, const Parameters& parameters,
                                            Patience patience) {
    const auto deadline = steady_clock::now() + patience.total;
    for (;;) {
        auto rows = call(statement, parameters);
        const bool again = !rows && (rows.error().contended() || rows.error().connection_lost ||
                                     rows.error().outcome_unknown);
        if (!again || steady_clock::now() >= deadline) {
            if (!rows) {
                tell(rows.error());
            }
            return rows;
        }
        pause_before_retry(patience.pause);
    }
}

void PatientCaller::tell(const Failure& failure) {
    // Codes of our own are answers, not trouble.
    if (!is_own(failure.sqlstate)) {
        log_.write(LogLevel::Warn, component_, failure.described());
    }
}

}  // namespace sluice::postgres
