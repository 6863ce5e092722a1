#include "app/limits/limit_servers.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "LimitService";

}  // namespace

bool LimitServers::all_answer() const {
    const std::lock_guard lock{mutex_};
    return down_.empty();
}

void LimitServers::server_down(const std::string& server, const std::string& reason) {
    const std::lock_guard lock{mutex_};
    down_.insert(server);
    metrics_.server_changed(ServerState::Down);
    log_.write(LogLevel::Warn, kComponent, reason + "; plans answer its checks by their on_store_failure");
}

void LimitServers::server_up(const std::string& server) { rise(server, server + " answers again"); }

void LimitServers::server_left(const std::string& server) { rise(server, server + " is not asked any more"); }

void LimitServers::rise(const std::string& server, const std::string& line) {
    const std::lock_guard lock{mutex_};
    if (const auto found = down_.find(server); found != down_.end()) {
        down_.erase(found);
    }
    metrics_.server_changed(ServerState::Answers);
    log_.write(LogLevel::Info, kComponent, line);
}

}  // namespace sluice
