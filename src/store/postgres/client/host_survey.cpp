#include "store/postgres/client/host_survey.hpp"

namespace sluice::postgres {
namespace {

constexpr std::chrono::seconds kTurn{5};

}  // namespace

HostSurvey::HostSurvey(const ConnectSettings& settings, Runtime& runtime) {
    if (Connection::has_hosts(settings)) {
        rounds_.emplace(runtime, kTurn, [settings](const std::stop_token& /*stop*/) {
            Connection::meet_hosts(settings);
            return kTurn;
        });
    }
}

}  // namespace sluice::postgres
