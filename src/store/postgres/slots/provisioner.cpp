#include "store/postgres/slots/provisioner.hpp"

#include "store/postgres/client/connection_pool.hpp"
#include "store/postgres/client/retry_pause.hpp"

namespace sluice::postgres {
namespace {

constexpr Statement kProvision{"provision", "select sluice.provision_windows($1, $2)"};
constexpr Statement kRaiseBehind{"raise_behind", "select sluice.raise_behind($1, $2)"};
constexpr WindowIndex kWindowsBetweenNotes = 100;

// For another node, or this one in the background, that is at the same chunk: they need no longer. An
// application's open transaction may.
constexpr std::chrono::milliseconds kPatience{100};

}  // namespace

Provisioner::Provisioner(ConnectionSource& pool, Log& log, Runtime& runtime)
    : pool_{pool},
      log_{log},
      background_{runtime, Repeating::kUntilNudged, [this](const std::stop_token& /*stop*/) {
                      do_what_waits();
                      return Repeating::kUntilNudged;
                  }} {}

Result<std::vector<std::int64_t>, Failure> Provisioner::provision(const PoolName& pool,
                                                                  const std::vector<std::int64_t>& windows) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
        auto busy = try_once(pool, windows);
        if (!busy || busy->empty() || std::chrono::steady_clock::now() >= deadline) {
            return busy;
        }
        pause_before_retry();
    }
}

Result<std::vector<std::int64_t>, Failure> Provisioner::try_once(const PoolName& pool,
                                                                 const std::vector<std::int64_t>& windows) {
    const auto lease = pool_.take(ConnectionSource::Clock::now() + kConnectionPatience);
    if (!lease) {
        return Unexpected{lease.error()};
    }
    const auto rows = (*lease)->run(kProvision, Parameters{}.add(pool.text()).add_numbers(windows));
    if (!rows) {
        return Unexpected{rows.error()};
    }
    std::vector<std::int64_t> busy;
    for (std::size_t i = 0; i < rows->size(); ++i) {
        busy.push_back(rows->number(i, 0).value_or(0));
    }
    return busy;
}

void Provisioner::provision_soon(const PoolName& pool, std::vector<std::int64_t> windows) {
    {
        const std::lock_guard lock{mutex_};
        waiting_.insert_or_assign(pool, std::move(windows));
    }
    background_.nudge();
}

void Provisioner::filled_up_to(const PoolName& pool, WindowIndex window, Duration window_size) {
    {
        const std::lock_guard lock{mutex_};
        const WindowIndex hundred = window / kWindowsBetweenNotes;
        const auto [last, is_first] = hundreds_.try_emplace(pool, hundred);
        if (!is_first && last->second == hundred) {
            return;
        }
        last->second = hundred;
        filled_.insert_or_assign(pool, window * window_size.count());
    }
    background_.nudge();
}

Result<void, Failure> Provisioner::note_full(const PoolName& pool, std::int64_t window) {
    const auto lease = pool_.take(ConnectionSource::Clock::now() + kConnectionPatience);
    if (!lease) {
        return Unexpected{lease.error()};
    }
    if (const auto noted = (*lease)->run(kRaiseBehind, Parameters{}.add(pool.text()).add(window)); !noted) {
        return Unexpected{noted.error()};
    }
    return {};
}

void Provisioner::do_what_waits() {
    std::map<PoolName, std::vector<std::int64_t>> wishes;
    std::map<PoolName, std::int64_t> filled;
    {
        const std::lock_guard lock{mutex_};
        wishes.swap(waiting_);
        filled.swap(filled_);
    }
    for (const auto& [pool, windows] : wishes) {
        if (const auto done = provision(pool, windows); !done) {
            log_.write(LogLevel::Debug, "Provisioner", "No counters ahead: " + done.error().message);
        }
    }
    for (const auto& [pool, window] : filled) {
        if (const auto done = note_full(pool, window); !done) {
            log_.write(LogLevel::Debug, "Provisioner", "Full chunks not noted: " + done.error().message);
        }
    }
}

}  // namespace sluice::postgres
