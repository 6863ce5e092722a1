#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "door/http/http_server.hpp"
#include "main/daemon_log.hpp"
#include "main/part.hpp"
#include "main/postgres_figures.hpp"
#include "net/host_port.hpp"

namespace sluice {

// What a daemon is made of, beside its settings.
struct DaemonPlan {
    std::span<const PartPlan> parts;  // They start and stop in this order.
    std::string_view openapi_json;    // Static storage.
};

// A list of parts over what they share: clock, timers and threads, log, PostgreSQL, the store of slots, what
// carries work, and the door to all of them.
// Thread safety: belongs to the main thread.
class Daemon {
public:
    // The settings outlive it.
    Daemon(const SettingsInForce& in_force, const DaemonPlan& plan);

    // Opens everything and listens. Fails with one sentence.
    Result<void, std::string> start(const net::HostPort& listener);

    // Reads the files of the settings again: token, plans, certificate. What is wrong with one is logged, and
    // what was read before stays.
    void reload();

    // Says that it is about to stop.
    void announce_end();
    // Lets requests under way finish, for a while, and the parts their work.
    void stop(std::chrono::milliseconds patience);

    // REQUIRES: it has started.
    [[nodiscard]] std::uint16_t port() const { return server_->port(); }

private:
    Result<void, std::string> open_tls(const net::TlsFiles& files);
    Result<void, std::string> open_shared(const net::HostPort& listener);
    Result<void, std::string> open_parts();
    Result<void, std::string> listen(const net::HostPort& listener);
    void warn_of_certificate();
    void reload_token();
    void reload_tls();
    [[nodiscard]] std::string metrics() const;

    const SettingsInForce& in_force_;
    const Settings& settings_ = in_force_.settings;
    const std::vector<PartPlan> plans_;
    SystemClock clock_;
    const std::unique_ptr<Runtime> runtime_ = make_machine_runtime();
    std::unique_ptr<DaemonLog> log_;
    PostgresFigures postgres_figures_;
    std::shared_ptr<postgres::Server> postgres_;  // Null: no part is on one.
    OpenCarriers carriers_;
    OpenSlotStore slots_;
    std::vector<std::unique_ptr<Part>> parts_;  // As planned.
    http::ServerDesk desk_;
    http::AdminGate gate_;
    std::unique_ptr<net::TlsServer> tls_;  // Null: plain HTTP.
    std::atomic<http::Server*> open_server_{nullptr};
    std::unique_ptr<http::Server> server_;  // Last: it uses all the rest.
};

}  // namespace sluice
