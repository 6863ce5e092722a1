#include "store/postgres/housekeeper.hpp"

#include <condition_variable>
#include <mutex>

#include "store/postgres/slot_rows.hpp"

namespace sluice::postgres {
namespace {

constexpr std::chrono::minutes kTurn{1};
constexpr Duration kGrace = std::chrono::hours{1};  // A request for the recent past is common.
constexpr std::int64_t kRowsMax = 1000;             // Of one transaction.

constexpr Statement kSweepFrontier{
    "sweep_frontier",
    "delete from rl_wndw_frontier_trk where (pool_nm, req_ts, wndw_end_ts) in"
    " (select pool_nm, req_ts, wndw_end_ts from rl_wndw_frontier_trk"
    " where wndw_end_ts < sluice.from_ms($1) limit $2 for update skip locked)"};

}  // namespace

Housekeeper::Housekeeper(ConnectionPool& pool, const Clock& clock, Log& log)
    : pool_{pool}, clock_{clock}, log_{log}, thread_{[this](const std::stop_token& stop) { work(stop); }} {}

void Housekeeper::work(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    while (!stop.stop_requested()) {
        sweep();
        std::unique_lock lock{mutex};
        never.wait_for(lock, stop, kTurn, [] { return false; });
    }
}

void Housekeeper::sweep() {
    std::int64_t removed = kRowsMax;
    while (removed == kRowsMax) {
        const auto lease = pool_.take(ConnectionPool::Clock::now() + std::chrono::seconds{1});
        if (!lease) {
            return;
        }
        const auto rows =
            (*lease)->run(kSweepFrontier, Parameters{}.add(to_ms(clock_.now() - kGrace)).add(kRowsMax));
        if (!rows) {
            log_.write(LogLevel::Warn, "Housekeeper", rows.error().message);
            return;
        }
        removed = rows->affected();
    }
}

}  // namespace sluice::postgres
