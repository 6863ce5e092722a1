#include "store/postgres/gateway/gateway_sweeper.hpp"

namespace sluice::postgres {
namespace {

constexpr std::chrono::minutes kTurn{1};
constexpr std::int64_t kRowsMax = 1000;  // Of one transaction, of each table.

constexpr Statement kSweep{"sweep_gateway", "select sluice.sweep_gateway($1::integer)"};

}  // namespace

GatewaySweeper::GatewaySweeper(ConnectionSource& pool, Log& log, Runtime& runtime)
    : pool_{pool}, log_{log}, rounds_{runtime, Repeating::Pause{0}, [this](const std::stop_token& stop) {
                                          sweep(stop);
                                          return kTurn;
                                      }} {}

void GatewaySweeper::sweep(const std::stop_token& stop) {
    std::int64_t removed = kRowsMax;
    while (removed >= kRowsMax && !stop.stop_requested()) {
        const auto lease = pool_.take(ConnectionSource::Clock::now() + std::chrono::seconds{1});
        if (!lease) {
            return;  // The pool has said why.
        }
        const auto rows = (*lease)->run(kSweep, Parameters{}.add(kRowsMax));
        if (!rows) {
            log_.write(LogLevel::Warn, "GatewaySweeper", rows.error().described());
            return;
        }
        removed = rows->number(0, 0).value_or(0);
    }
}

}  // namespace sluice::postgres
