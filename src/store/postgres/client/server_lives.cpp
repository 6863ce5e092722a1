#include "store/postgres/client/server_lives.hpp"

#include <utility>

namespace sluice::postgres {
namespace {

constexpr const char* kComponent = "ServerLives";
// More than all pools of a process hold. Beyond it the oldest are left to the server's own time-outs.
constexpr std::size_t kAbandonedMax = 1024;

}  // namespace

bool ServerLives::stray_lately() const {
    return stray_at_ && std::chrono::steady_clock::now() - *stray_at_ <= kLately;
}

Failure ServerLives::refuse(std::string sentence) {
    if (!stray_lately()) {  // It is met again and again, by every connection that is opened.
        log_.write(LogLevel::Error, kComponent, sentence);
    }
    stray_at_ = std::chrono::steady_clock::now();
    ++figures_.strays_refused;
    return {kStrayServer, std::move(sentence), true, false};
}

Result<void, Failure> ServerLives::admit(const std::string& address, const ServerLife& life) {
    const std::lock_guard lock{mutex_};
    const ServerLife known = life_.value_or(life);
    if (life.system != known.system) {
        return Unexpected{
            refuse("PostgreSQL at " + address + " is another database system than the one " +
                   "this node works with, and is not used; if that is meant, restart the node")};
    }
    const std::string timeline = std::to_string(life.timeline);
    if (life.timeline < known.timeline) {
        return Unexpected{refuse("PostgreSQL at " + address + " is on timeline " + timeline +
                                 ", but timeline " + std::to_string(known.timeline) +
                                 " is in force: it is an old primary, and is not used")};
    }
    if (life.timeline > known.timeline) {
        log_.write(LogLevel::Warn, kComponent,
                   "PostgreSQL at " + address + " is on timeline " + timeline + ": connections to timeline " +
                       std::to_string(known.timeline) + " are dropped");
    }
    life_ = life;
    figures_.timeline = life.timeline;
    newest_.store(life.timeline, std::memory_order_release);
    return {};
}

void ServerLives::admit_unknown(const std::string& address, const Failure& reason) {
    const std::lock_guard lock{mutex_};
    if (!std::exchange(unwatched_said_, true)) {
        log_.write(LogLevel::Warn, kComponent,
                   "PostgreSQL at " + address + " does not tell its timeline, so that an old primary would " +
                       "not be noticed: " + reason.described());
    }
}

void ServerLives::abandon(SessionKey session) {
    const std::lock_guard lock{mutex_};
    if (session.pid != 0 && abandoned_.size() < kAbandonedMax) {
        abandoned_.push_back(session);
    }
}

std::size_t ServerLives::abandoned() const {
    const std::lock_guard lock{mutex_};
    return abandoned_.size();
}

std::vector<SessionKey> ServerLives::take_abandoned() {
    const std::lock_guard lock{mutex_};
    return std::exchange(abandoned_, {});
}

void ServerLives::ended(std::size_t sessions) {
    const std::lock_guard lock{mutex_};
    figures_.sessions_ended += sessions;
}

ServerFigures ServerLives::figures() const {
    const std::lock_guard lock{mutex_};
    ServerFigures figures = figures_;
    figures.stray_lately = stray_lately();
    return figures;
}

}  // namespace sluice::postgres
