#include "store/postgres/client/patient_caller.hpp"

#include <thread>

namespace sluice::postgres {
namespace {

using std::chrono::steady_clock;

// From one to two times as long, by the lowest digits of the clock: good enough to keep callers apart.
std::chrono::microseconds jittered(std::chrono::microseconds pause) {
    const auto ticks = steady_clock::now().time_since_epoch().count();
    return pause + std::chrono::microseconds{ticks / 7 % (pause.count() + 1)};
}

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
        std::this_thread::sleep_for(jittered(patience.pause));
    }
}

void PatientCaller::tell(const Failure& failure) {
    // Codes of our own are answers, not trouble.
    if (!is_own(failure.sqlstate)) {
        log_.write(LogLevel::Warn, component_, failure.described());
    }
}

}  // namespace sluice::postgres
