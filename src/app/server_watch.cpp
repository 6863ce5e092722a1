#include "app/server_watch.hpp"

#include <utility>

namespace sluice {
namespace {

using std::chrono::milliseconds;

constexpr int kProbesToBeDown = 3;
constexpr int kPatiencesToBeDown = 3;
// The longest pause and an attempt to connect stay below the second in which a recovery is to be told.
constexpr Backoff::Bounds kPauses{milliseconds{20}, milliseconds{400}};
// After an answer: many suspicions in one moment are worth one question.
constexpr milliseconds kRest{50};

}  // namespace

ServerWatch::ServerWatch(ServerWatchSettings settings, Probe probe, std::function<void()> changed)
    : settings_{std::move(settings)},
      probe_{std::move(probe)},
      changed_{std::move(changed)},
      pauses_{kPauses, settings_.seed},
      looks_{settings_.runtime, Repeating::kUntilNudged,
             [this](const std::stop_token& /*stop*/) { return look(); }} {}

ServerWatch::~ServerWatch() {
    looks_.stop();
    if (down() && settings_.observer != nullptr) {
        settings_.observer->server_left(settings_.server);
    }
}

void ServerWatch::tell_change() const {
    if (changed_) {
        changed_();
    }
}

// A call that was under way when the server went down is no proof that it is back.
void ServerWatch::settle() {
    const std::lock_guard lock{mutex_};
    if (!down() && !calm()) {
        recover();
    }
}

void ServerWatch::failed(const std::string& reason) {
    const std::lock_guard lock{mutex_};
    if (down()) {
        return;
    }
    if (calm()) {
        suspected_at_ = settings_.runtime.now();
        probes_failed_ = 0;
        calm_.store(false, std::memory_order_relaxed);
        looks_.nudge();
        return;
    }
    judge(reason);
}

void ServerWatch::judge(const std::string& reason) {
    const bool silent_for_long =
        settings_.runtime.now() - suspected_at_ >= kPatiencesToBeDown * settings_.patience;
    if (down() || calm() || (probes_failed_ < kProbesToBeDown && !silent_for_long)) {
        return;
    }
    // The observer first: whoever finds it down finds that told, too.
    if (settings_.observer != nullptr) {
        settings_.observer->server_down(settings_.server, reason);
    }
    down_.store(true, std::memory_order_release);
    tell_change();
}

void ServerWatch::recover() {
    calm_.store(true, std::memory_order_relaxed);
    if (down() && settings_.observer != nullptr) {
        settings_.observer->server_up(settings_.server);
    }
    down_.store(false, std::memory_order_release);
    tell_change();
}

Repeating::Pause ServerWatch::look() {
    {
        const std::lock_guard lock{mutex_};
        if (calm()) {
            return Repeating::kUntilNudged;
        }
    }
    const auto trouble = probe_();
    const std::lock_guard lock{mutex_};
    if (trouble) {
        ++probes_failed_;
        judge(*trouble);
        return pauses_.next();
    }
    pauses_.reset();
    recover();
    return kRest;
}

}  // namespace sluice
