#include "store/postgres/client/host_survey.hpp"

#include <condition_variable>
#include <mutex>

namespace sluice::postgres {
namespace {

constexpr std::chrono::seconds kTurn{5};

void work(const ConnectSettings& settings, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    while (!stop.stop_requested()) {
        std::unique_lock lock{mutex};
        never.wait_for(lock, stop, kTurn, [] { return false; });
        if (!stop.stop_requested()) {
            Connection::meet_hosts(settings);
        }
    }
}

}  // namespace

HostSurvey::HostSurvey(const ConnectSettings& settings) {
    if (Connection::has_hosts(settings)) {
        thread_ = std::jthread{[settings](const std::stop_token& stop) { work(settings, stop); }};
    }
}

}  // namespace sluice::postgres
