#include "app/dispatch/dispatcher.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "app/dispatch/dispatch_desk.hpp"
#include "app/dispatch/wake_loop.hpp"
#include "base/backoff.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "Dispatcher";
constexpr Backoff::Bounds kPauses{std::chrono::milliseconds{50}, std::chrono::milliseconds{5'000}};
// Outcomes are stored before more is taken; so many takes may come between.
constexpr int kTakesInARow = 16;
// What is set aside is taken in smaller portions, so that all of its lanes have their turn.
constexpr std::size_t kPortions = 8;
constexpr int kLastTries = 3;

}  // namespace

// Talks to the store, from one worker: stores outcomes, then looks at the lanes whose time has come.
class Dispatcher::Engine {
public:
    Engine(DispatcherOptions options, DispatcherWorld world)
        : options_{std::move(options)},
          store_{world.store},
          metrics_{world.metrics},
          log_{world.log},
          clock_{world.runtime},
          pauses_{kPauses, options_.seed},
          desk_{std::make_shared<DispatchDesk>(options_, world, [this] { loop_.wake(); })},
          loop_{world.runtime, [this] { return run(); }} {
        store_.on_news([this](const WorkTidings&) {
            // The store's own lock orders what is new before this; the flag alone says that there is news.
            news_.store(true, std::memory_order_release);
            loop_.wake();
        });
        loop_.wake();
    }

    [[nodiscard]] DispatchFigures figures() const { return desk_->figures(); }

    void stop() {
        if (stopped_) {
            return;
        }
        stopped_ = true;
        store_.on_news(nullptr);
        desk_->stop_sending();
        desk_->wait_for_calls(options_.patience);
        loop_.stop();
        desk_->close();
        for (int tries = 0; tries < kLastTries && !settle_all(); ++tries) {
        }
    }

private:
    // When to run again.
    SteadyTime run() {
        const SteadyTime now = clock_.now();
        if (now < retry_at_) {
            return retry_at_;
        }
        if (!start() || !read_terms() || !settle_all() || !take_all()) {
            return retry_at_;
        }
        recovered();
        return desk_->next_look();
    }

    bool start() {
        if (started_) {
            return true;
        }
        auto terms = store_.terms();
        if (!terms) {
            return failed(terms.error());
        }
        auto lanes = store_.lanes();
        if (!lanes) {
            return failed(lanes.error());
        }
        auto claims = store_.open_claims();
        if (!claims) {
            return failed(claims.error());
        }
        desk_->start({std::move(*terms), std::move(*lanes), std::move(*claims)});
        started_ = true;
        return true;
    }

    bool read_terms() {
        if (news_.exchange(false, std::memory_order_acquire)) {
            const auto terms = store_.terms();
            if (!terms) {
                news_.store(true, std::memory_order_relaxed);  // Only this thread asks.
                return failed(terms.error());
            }
            desk_->use(*terms);
            desk_->look_at_due();
        }
        if (desk_->is_missing_lanes()) {
            const auto lanes = store_.lanes();
            if (!lanes) {
                return failed(lanes.error());
            }
            desk_->add_lanes(*lanes);
        }
        return true;
    }

    // Before anything is taken: a claim whose outcome is known must not count as lost.
    bool settle_all() {
        for (;;) {
            const auto settlements = desk_->unsettled(options_.take_max);
            if (settlements.empty()) {
                return true;
            }
            const auto stored = store_.settle(settlements);
            if (!stored) {
                return failed(stored.error());
            }
            desk_->settled(settlements);
        }
    }

    bool take_all() {
        for (int takes = 0; takes < kTakesInARow; ++takes) {
            const auto lane = desk_->next_lane();
            if (!lane) {
                break;
            }
            if (!take(*lane)) {
                return false;
            }
        }
        return true;
    }

    bool take(const Lane& lane) {
        const bool all = lane.kind == LaneKind::Due || lane.kind == LaneKind::Claimed;
        const std::size_t most =
            all ? options_.take_max : std::max<std::size_t>(options_.take_max / kPortions, 1);
        TakeJudge judge = desk_->judge_for(lane);
        auto taken = store_.take(lane, most, [&](const DueWork& due) { return desk_->judge(judge, due); });
        if (!taken) {
            desk_->abandon(judge);
            return failed(taken.error());
        }
        desk_->accept(judge, *std::move(taken));
        return true;
    }

    // False, for whoever has to go on without the store.
    bool failed(const StoreError& error) {
        metrics_.store_failed();
        retry_at_ = clock_.now() + pauses_.next();
        if (!std::exchange(failing_, true)) {
            const std::string advice = error.advice.empty() ? std::string{} : " " + error.advice;
            log_.write(LogLevel::Error, kComponent,
                       "The store fails, nothing more is sent: " + error.what + "." + advice);
        }
        return false;
    }

    void recovered() {
        pauses_.reset();
        if (std::exchange(failing_, false)) {
            log_.write(LogLevel::Info, kComponent, "The store is back, sending goes on.");
        }
    }

    const DispatcherOptions options_;
    WorkStore& store_;
    DispatchMetrics& metrics_;
    Log& log_;
    const SteadyClock& clock_;
    std::atomic<bool> news_ = false;
    bool stopped_ = false;
    // The next four belong to the loop's job, and to stop() when that is over.
    bool started_ = false;
    bool failing_ = false;
    Backoff pauses_;
    SteadyTime retry_at_ = SteadyTime::min();
    const std::shared_ptr<DispatchDesk> desk_;
    WakeLoop loop_;  // Last: its job uses all the rest.
};

Dispatcher::Dispatcher(DispatcherOptions options, DispatcherWorld world)
    : engine_{std::make_unique<Engine>(std::move(options), world)} {}

Dispatcher::~Dispatcher() { stop(); }

DispatchFigures Dispatcher::figures() const { return engine_->figures(); }

void Dispatcher::stop() { engine_->stop(); }

}  // namespace sluice
