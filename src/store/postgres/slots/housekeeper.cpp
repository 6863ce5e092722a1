#include "store/postgres/slots/housekeeper.hpp"

#include "store/postgres/slots/slot_rows.hpp"

namespace sluice::postgres {
namespace {

constexpr std::chrono::minutes kTurn{1};
constexpr std::int64_t kRowsMax = 1000;  // Of one transaction.

// A request for the recent past is common, and the functions rely on it that nothing younger goes.
constexpr Statement kSweepFrontier{"sweep_frontier",
                                   "delete from rl_wndw_frontier_trk where (pool_nm, req_ts, wndw_end_ts) in"
                                   " (select pool_nm, req_ts, wndw_end_ts from rl_wndw_frontier_trk"
                                   " where wndw_end_ts < clock_timestamp() - interval '1 hour'"
                                   " limit $1 for update skip locked)"};

// Few enough that nobody notices how long the pool is closed for them.
constexpr std::int64_t kWindowsMax = 20;
constexpr Statement kPools{"pools", "select pool_nm from sluice.pool"};
constexpr Statement kForgetWindows{"forget_windows",
                                   "select sluice.forget_windows($1, $2 * interval '1 ms', $3::integer)"};

}  // namespace

Housekeeper::Housekeeper(ConnectionSource& pool, std::optional<Duration> retention, Log& log,
                         Runtime& runtime)
    : pool_{pool},
      retention_{retention},
      log_{log},
      rounds_{runtime, Repeating::Pause{0}, [this](const std::stop_token& stop) {
                  sweep_frontier(stop);
                  forget_old_windows(stop);
                  return kTurn;
              }} {}

void Housekeeper::sweep_frontier(const std::stop_token& stop) {
    std::int64_t removed = kRowsMax;
    while (removed == kRowsMax && !stop.stop_requested()) {
        const auto rows = run(kSweepFrontier, Parameters{}.add(kRowsMax));
        removed = rows ? rows->affected() : 0;
    }
}

void Housekeeper::forget_old_windows(const std::stop_token& stop) {
    const auto pools = retention_ ? run(kPools, {}) : std::nullopt;
    for (std::size_t i = 0; pools && i < pools->size(); ++i) {
        std::int64_t windows = 1;
        while (windows > 0 && !stop.stop_requested()) {
            const auto rows =
                run(kForgetWindows,
                    Parameters{}.add(pools->text(i, 0)).add(retention_->count()).add(kWindowsMax));
            windows = rows ? rows->number(0, 0).value_or(0) : 0;
        }
    }
}

std::optional<Rows> Housekeeper::run(const Statement& statement, Parameters parameters) {
    const auto lease = pool_.take(ConnectionSource::Clock::now() + std::chrono::seconds{1});
    if (!lease) {
        return std::nullopt;  // The pool has said why.
    }
    auto rows = (*lease)->run(statement, std::move(parameters));
    if (!rows) {
        // What others hold is left for the next turn.
        const auto level = rows.error().contended() ? LogLevel::Debug : LogLevel::Warn;
        log_.write(level, "Housekeeper", rows.error().described());
        return std::nullopt;
    }
    return std::move(*rows);
}

}  // namespace sluice::postgres
