#include "app/dispatch/dispatcher.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "app/dispatch/dispatch_desk.hpp"
#include "app/dispatch/keepership.hpp"
#include "app/dispatch/permit_office.hpp"
#include "app/dispatch/wake_loop.hpp"
#include "base/backoff.hpp"
#include "base/hex.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "Dispatcher";
constexpr Backoff::Bounds kPauses{std::chrono::milliseconds{50}, std::chrono::milliseconds{5'000}};
// Outcomes are stored before more is taken; so many takes may come between.
constexpr int kTakesInARow = 16;
// What is set aside is taken in smaller portions, so that all of its lanes have their turn.
constexpr std::size_t kPortions = 8;
constexpr int kLastTries = 3;
constexpr std::chrono::seconds kReadLanes{60};

// Two processes of one name must not both be the keeper: containers share host names and numbers.
std::string name_of_process(const DispatcherOptions& options) {
    std::string name = options.node + "/";
    append_hex(name, static_cast<unsigned>(Random{options.seed}.next()), 8);
    return name;
}

// What the store told since somebody looked.
// Thread safety: all of it.
class NewsBox {
public:
    static constexpr std::size_t kLanesMax = 10'000;

    struct News {
        bool terms = false;  // They may be others, or something is due.
        bool is_missing = false;
        std::vector<Lane> filled{};
    };

    void add(const WorkTidings& tidings) {
        const std::lock_guard lock{mutex_};
        news_.terms = news_.terms || tidings.filled.empty();
        if (news_.filled.size() + tidings.filled.size() > kLanesMax) {
            news_.is_missing = true;
            return;
        }
        news_.filled.insert(news_.filled.end(), tidings.filled.begin(), tidings.filled.end());
    }
    News take() {
        const std::lock_guard lock{mutex_};
        return std::exchange(news_, {});
    }

private:
    std::mutex mutex_;
    News news_{.terms = true};  // Guarded by mutex_. At first everything is new.
};

}  // namespace

// Talks to the store, from one worker: keeps the gates, stores outcomes, gives permits, then looks at the
// lanes whose time has come.
class Dispatcher::Engine {
public:
    Engine(DispatcherOptions options, DispatcherWorld world)
        : options_{std::move(options)},
          name_{name_of_process(options_)},
          store_{world.store},
          metrics_{world.metrics},
          log_{world.log},
          clock_{world.runtime},
          pauses_{kPauses, options_.seed},
          desk_{std::make_shared<DispatchDesk>(options_, world, [this] { loop_.wake(); })},
          permits_{options_.seed, world.clock, world.runtime, [this] { loop_.wake(); }},
          loop_{world.runtime, [this] { return run(); }} {
        store_.on_news([this](const WorkTidings& tidings) {
            news_.add(tidings);
            loop_.wake();
        });
        loop_.wake();
    }

    [[nodiscard]] DispatchFigures figures() const { return desk_->figures(); }
    PermitOffice& permits() { return permits_; }

    void stop() {
        if (stopped_) {
            return;
        }
        stopped_ = true;
        store_.on_news(nullptr);
        permits_.stop();
        desk_->stop_sending();
        desk_->wait_for_calls(options_.patience);
        loop_.stop();
        desk_->close();
        for (int tries = 0; tries < kLastTries && !settle_all(); ++tries) {
        }
        if (kept_) {
            store_.let_go(kept_->fence);
        }
    }

private:
    // When to run again.
    SteadyTime run() {
        if (kept_ && !keepership_.lease(clock_.boot_now())) {
            lose();
        }
        if (clock_.now() < retry_at_) {
            permits_.refuse_all();
            return retry_at_;
        }
        if (!read_terms() || !keep_gates() || !settle_all() || !serve() || !take_all()) {
            return retry_at_;
        }
        recovered();
        return next_run();
    }

    SteadyTime next_run() const {
        SteadyTime next = std::min({desk_->next_look(), permits_.next_serve(), lanes_at_});
        if (desk_->has_gates()) {
            next = std::min(next, steady(keepership_.ask_at()));
        }
        return kept_ ? std::min({next, desk_->next_count(), steady(kept_->until)}) : next;
    }

    SteadyTime steady(BootTime when) const {
        return when == BootTime::max() ? SteadyTime::max() : clock_.now() + (when - clock_.boot_now());
    }

    bool read_terms() {
        const NewsBox::News news = news_.take();
        if (news.terms) {
            const auto terms = store_.terms();
            if (!terms) {
                news_.add({});
                return failed(terms.error());
            }
            desk_->use(*terms);
            desk_->look_at_due();
        }
        desk_->look_at(news.filled);
        if (news.is_missing || desk_->is_missing_lanes() || lanes_at_ <= clock_.now()) {
            return read_lanes();
        }
        return true;
    }

    // Somebody who filled a lane may not have been able to tell it.
    bool read_lanes() {
        lanes_at_ = SteadyTime::min();
        const auto lanes = store_.lanes();
        if (!lanes) {
            return failed(lanes.error());
        }
        desk_->add_lanes(*lanes);
        desk_->look_at_due();
        lanes_at_ = store_.is_shared() ? clock_.now() + kReadLanes : SteadyTime::max();
        return true;
    }

    // Sees to it that somebody keeps the gates, if there are any.
    bool keep_gates() {
        const BootTime now = clock_.boot_now();
        if (!desk_->has_gates()) {
            if (kept_) {
                store_.let_go(kept_->fence);
                be_fenced();
            }
            return true;
        }
        return (now < keepership_.ask_at() || ask_to_keep()) && count_outside();
    }

    bool ask_to_keep() {
        const BootTime asked = clock_.boot_now();
        const auto keeping = store_.keep(name_);
        if (!keeping) {
            return failed(keeping.error());
        }
        keepership_.told(*keeping, asked);
        const auto lease = keepership_.lease(clock_.boot_now());
        if (kept_ && (!lease || lease->fence != kept_->fence)) {
            lose();
        }
        if (kept_ && lease) {
            kept_ = lease;
            desk_->keep(*lease);
        }
        return true;
    }

    // What others have under way: before this process is the keeper, and then again until nothing is.
    bool count_outside() {
        const auto lease = keepership_.lease(clock_.boot_now());
        const SteadyTime asked = clock_.now();
        if (!lease || (kept_ && asked < desk_->next_count())) {
            return true;
        }
        auto claims = store_.open_claims();
        if (!claims) {
            return failed(claims.error());
        }
        auto permits = store_.outside_permits();
        if (!permits) {
            return failed(permits.error());
        }
        desk_->count_outside({*std::move(claims), *std::move(permits), asked});
        return kept_ || become_keeper(*lease);
    }

    bool become_keeper(const Keepership::Lease& lease) {
        kept_ = lease;
        desk_->keep(lease);
        if (store_.is_shared()) {
            metrics_.became_keeper();
            log_.write(LogLevel::Info, kComponent, "This node keeps the gates now.");
        }
        return read_lanes();
    }

    // It is not the keeper, whatever its lease says.
    void be_fenced() {
        keepership_.forget(clock_.boot_now());
        if (kept_) {
            lose();
        }
    }

    void lose() {
        kept_.reset();
        desk_->resign();
        if (store_.is_shared()) {
            metrics_.lost_keeper();
            log_.write(LogLevel::Info, kComponent, "This node does not keep the gates any more.");
        }
    }

    bool serve() {
        const auto served = permits_.serve({store_, *desk_, fence()});
        if (!served) {
            return failed(served.error());
        }
        if (!*served) {
            be_fenced();
        }
        return true;
    }

    [[nodiscard]] std::optional<Fence> fence() const {
        return kept_ ? std::optional{kept_->fence} : std::nullopt;
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
            if (!keep_gates()) {
                return false;
            }
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
        if (taken->fenced) {
            desk_->abandon(judge);
            be_fenced();
            return true;
        }
        desk_->accept(judge, *std::move(taken));
        return true;
    }

    // False, for whoever has to go on without the store.
    bool failed(const StoreError& error) {
        metrics_.store_failed();
        retry_at_ = clock_.now() + pauses_.next();
        lanes_at_ = SteadyTime::min();  // What was told meanwhile may be lost.
        permits_.refuse_all();
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
    const std::string name_;
    WorkStore& store_;
    DispatchMetrics& metrics_;
    Log& log_;
    const Runtime& clock_;
    NewsBox news_;
    bool stopped_ = false;
    // The next seven belong to the loop's job, and to stop() when that is over.
    bool failing_ = false;
    Backoff pauses_;
    SteadyTime retry_at_ = SteadyTime::min();
    SteadyTime lanes_at_ = SteadyTime::min();  // When the store is to be asked which lanes there are.
    Keepership keepership_;
    std::optional<Keepership::Lease> kept_;  // Of gates that are open.
    const std::shared_ptr<DispatchDesk> desk_;
    PermitOffice permits_;
    WakeLoop loop_;  // Last: its job uses all the rest.
};

Dispatcher::Dispatcher(DispatcherOptions options, DispatcherWorld world)
    : engine_{std::make_unique<Engine>(std::move(options), world)} {}

Dispatcher::~Dispatcher() { stop(); }

PermitOffice& Dispatcher::permits() { return engine_->permits(); }

DispatchFigures Dispatcher::figures() const { return engine_->figures(); }

void Dispatcher::stop() { engine_->stop(); }

}  // namespace sluice
