#include "main/daemon.hpp"

#include <algorithm>
#include <thread>

#include <prometheus/metric_family.h>

#include "base/iso8601.hpp"
#include "main/metrics_text.hpp"
#include "main/server_facts.hpp"
#include "main/slot_store_choice.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "Sluice";

}  // namespace

Daemon::Daemon(const SettingsInForce& in_force, const DaemonPlan& plan)
    : in_force_{in_force},
      plans_{plan.parts.begin(), plan.parts.end()},
      log_{make_daemon_log(settings_.log_level, settings_.log_format, clock_)} {
    desk_.openapi_json = plan.openapi_json;
    desk_.metrics_text = [this] { return metrics(); };
    desk_.settings_json = [this] { return server_facts_json(in_force_, clock_.now()); };
}

Result<void, std::string> Daemon::start(const net::HostPort& listener) {
    if (!settings_.token_file.empty()) {
        if (const auto loaded = gate_.load(settings_.token_file); !loaded) {
            return Unexpected{loaded.error()};
        }
    }
    if (settings_.tls) {
        if (const auto loaded = open_tls(*settings_.tls); !loaded) {
            return Unexpected{loaded.error()};
        }
    }
    if (const auto opened = open_shared(listener); !opened) {
        return Unexpected{opened.error()};
    }
    if (const auto opened = open_parts(); !opened) {
        return Unexpected{opened.error()};
    }
    return listen(listener);
}

Result<void, std::string> Daemon::open_tls(const net::TlsFiles& files) {
    auto opened = net::TlsServer::open(files, "http/1.1");
    if (!opened) {
        return Unexpected{opened.error()};
    }
    tls_ = std::move(*opened);
    warn_of_certificate();
    return {};
}

Result<void, std::string> Daemon::open_shared(const net::HostPort& listener) {
    auto server = open_postgres_server(settings_, {*log_, postgres_figures_, *runtime_});
    if (!server) {
        return Unexpected{server.error()};
    }
    postgres_ = std::move(*server);
    auto carriers = open_carriers(settings_, listener, {clock_, *log_});
    if (!carriers) {
        return Unexpected{carriers.error()};
    }
    carriers_ = std::move(*carriers);
    auto slots = open_slot_store(settings_, {clock_, *log_, carriers_.all}, postgres_);
    if (!slots) {
        return Unexpected{slots.error()};
    }
    slots_ = std::move(*slots);
    return {};
}

Result<void, std::string> Daemon::open_parts() {
    for (const PartPlan& plan : plans_) {
        auto opened = plan.open({settings_, clock_, *runtime_, *log_, postgres_, slots_, carriers_});
        if (!opened) {
            return Unexpected{opened.error()};
        }
        desk_.parts.push_back((*opened)->readiness());
        parts_.push_back(std::move(*opened));
    }
    return {};
}

Result<void, std::string> Daemon::listen(const net::HostPort& listener) {
    http::ServerOptions options;
    options.host = listener.host;
    options.port = listener.port;
    options.io_threads = std::max(1U, std::thread::hardware_concurrency());
    options.tls = tls_.get();
    std::vector<http::RouteTable> tables;
    std::string described;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        tables.push_back({plans_[i].routes(), &parts_[i]->desk()});
        described += ", " + parts_[i]->described();
    }
    tables.push_back({http::server_routes(), &desk_});
    auto started = http::start_server(options, {gate_, *log_, tables});
    if (!started) {
        return Unexpected{started.error()};
    }
    server_ = std::move(*started);
    open_server_.store(server_.get(), std::memory_order_release);
    const net::ServerUrl reached{{listener.host, server_->port()}, tls_ != nullptr};
    log_->announce(kComponent, "Sluice is ready on " + reached.text() + described);
    return {};
}

std::string Daemon::metrics() const {
    // Acquire, with the release of listen(): a request may come before the server is ours.
    const http::Server* server = open_server_.load(std::memory_order_acquire);
    const auto collect = [this](std::vector<prometheus::MetricFamily>& families) {
        for (const auto& part : parts_) {
            part->collect(families);
        }
        if (postgres_) {
            postgres_figures_.collect(families, *postgres_);
        }
    };
    return metrics_text(collect,
                        {log_->lines_dropped(), server == nullptr ? 0 : server->connections_approx()});
}

void Daemon::announce_end() {
    log_->write(LogLevel::Info, kComponent, "Draining; a second signal ends the process at once");
}

void Daemon::stop(std::chrono::milliseconds patience) {
    server_->drain(patience);
    for (const auto& part : parts_) {
        part->stop();
    }
    log_->write(LogLevel::Info, kComponent, "Stopped");
}

void Daemon::reload() {
    bool anything = false;
    if (!settings_.token_file.empty()) {
        reload_token();
        anything = true;
    }
    for (const auto& part : parts_) {
        anything = part->reload() || anything;
    }
    if (tls_) {
        reload_tls();
        anything = true;
    }
    if (!anything) {
        log_->write(LogLevel::Info, kComponent,
                    "Asked to reload, but there is no token file and no plans file");
    }
}

void Daemon::reload_token() {
    const auto loaded = gate_.load(settings_.token_file);
    if (loaded) {
        log_->write(LogLevel::Info, kComponent, "Reloaded the token from " + settings_.token_file);
    } else {
        log_->write(LogLevel::Error, kComponent, loaded.error() + " The token in force stays");
    }
}

void Daemon::reload_tls() {
    const auto loaded = tls_->reload();
    if (!loaded) {
        log_->write(LogLevel::Error, kComponent, loaded.error() + " The certificate in force stays");
        return;
    }
    log_->write(LogLevel::Info, kComponent,
                "Reloaded the TLS certificate from " + tls_->files().certificate + ", valid until " +
                    format_instant(tls_->validity().until));
    warn_of_certificate();
}

// Clients would refuse it, but they say so to people who cannot mend it.
void Daemon::warn_of_certificate() {
    if (const std::string fault = net::fault_of(tls_->validity(), clock_.now()); !fault.empty()) {
        log_->write(LogLevel::Warn, kComponent,
                    "The TLS certificate " + tls_->files().certificate + " " + fault +
                        ", so clients will refuse it; put a new one in its place and send SIGHUP");
    }
}

}  // namespace sluice
