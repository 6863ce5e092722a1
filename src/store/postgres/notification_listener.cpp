#include "store/postgres/notification_listener.hpp"

namespace sluice::postgres {
namespace {

constexpr Statement kListen{"listen", "listen sluice"};
constexpr Statement kAlive{"alive", "select 1"};
constexpr std::chrono::milliseconds kTurn{1000};

}  // namespace

NotificationListener::NotificationListener(ConnectSettings settings, Log& log, Ears ears)
    : settings_{std::move(settings)},
      log_{log},
      ears_{std::move(ears)},
      thread_{[this](const std::stop_token& stop) { work(stop); }} {}

bool NotificationListener::wait_until_listening(std::chrono::milliseconds timeout) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, timeout, [this] { return has_listened_; });
}

void NotificationListener::work(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        if (const auto connection = Connection::open(settings_)) {
            listen(**connection, stop);
        } else {
            std::unique_lock lock{mutex_};
            changed_.wait_for(lock, stop, kTurn, [] { return false; });
        }
    }
}

void NotificationListener::listen(Connection& connection, const std::stop_token& stop) {
    if (!connection.run(kListen)) {
        return;
    }
    const std::stop_callback wake{stop, [&connection] { connection.wake(); }};
    ears_.deaf_before();
    {
        const std::lock_guard lock{mutex_};
        has_listened_ = true;
    }
    changed_.notify_all();
    auto turn_ends = std::chrono::steady_clock::now() + kTurn;
    while (!stop.stop_requested()) {
        const auto said = connection.wait(kTurn);
        // A frozen server looks like a quiet one until it is asked.
        if (!said || (said->empty() && !connection.run(kAlive))) {
            log_.write(LogLevel::Warn, "NotificationListener", "Connection lost; news of other nodes wait");
            return;
        }
        for (const Notification& one : *said) {
            ears_.heard(one.payload);
        }
        if (const auto now = std::chrono::steady_clock::now(); now >= turn_ends) {
            ears_.each_second();
            turn_ends = now + kTurn;
        }
    }
}

}  // namespace sluice::postgres
