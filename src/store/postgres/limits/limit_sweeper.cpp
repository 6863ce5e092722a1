#include "store/postgres/limits/limit_sweeper.hpp"

namespace sluice::postgres {
namespace {

constexpr std::chrono::minutes kTurn{1};
constexpr std::int64_t kPages = 128;  // Of one transaction.

constexpr Statement kSweep{"sweep_limits", "select next_page from sluice.sweep_limits($1, $2, $3)"};

}  // namespace

LimitSweeper::LimitSweeper(ConnectionSource& pool, Log& log, Runtime& runtime)
    : pool_{pool}, log_{log}, rounds_{runtime, Repeating::Pause{0}, [this](const std::stop_token& stop) {
                                          sweep(stop);
                                          return kTurn;
                                      }} {}

void LimitSweeper::sweep(const std::stop_token& stop) {
    constexpr std::chrono::microseconds kGraceLength = kGrace;
    std::optional<std::int64_t> page = 0;
    while (page && !stop.stop_requested()) {
        const auto lease = pool_.take(ConnectionSource::Clock::now() + std::chrono::seconds{1});
        if (!lease) {
            return;  // The pool has said why.
        }
        const auto rows =
            (*lease)->run(kSweep, Parameters{}.add(*page).add(kPages).add(kGraceLength.count()));
        if (!rows) {
            log_.write(LogLevel::Warn, "LimitSweeper", rows.error().described());
            return;
        }
        page = rows->empty() ? std::nullopt : rows->number(0, 0);
    }
}

}  // namespace sluice::postgres
