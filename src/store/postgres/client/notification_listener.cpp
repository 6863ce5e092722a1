#include "store/postgres/client/notification_listener.hpp"

namespace sluice::postgres {
namespace {

constexpr Statement kListen{"listen", "listen sluice"};
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
    bool there = ears_.examines(connection);
    {
        const std::lock_guard lock{mutex_};
        has_listened_ = true;
    }
    changed_.notify_all();
    auto examined = std::chrono::steady_clock::now();
    while (there && !stop.stop_requested()) {
        const auto said = connection.wait(kTurn);
        there = said.has_value();
        for (std::size_t i = 0; there && i < said->size(); ++i) {
            ears_.heard((*said)[i].payload);
        }
        if (there && std::chrono::steady_clock::now() - examined >= kTurn) {
            there = ears_.examines(connection);
            examined = std::chrono::steady_clock::now();
        }
    }
    if (!there) {
        log_.write(LogLevel::Warn, "NotificationListener", "Connection lost; news of other nodes wait");
    }
}

}  // namespace sluice::postgres
