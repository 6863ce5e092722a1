#include "main/serve.hpp"

#include <atomic>
#include <csignal>
#include <ostream>
#include <thread>

#include <pthread.h>

#include "app/slots/slot_service.hpp"
#include "base/iso8601.hpp"
#include "door/http/http_server.hpp"
#include "door/http/openapi.hpp"
#include "files/plans_file.hpp"
#include "main/daemon_log.hpp"
#include "main/limit_store_choice.hpp"
#include "main/plan_publisher.hpp"
#include "main/process_figures.hpp"
#include "main/prometheus_metrics.hpp"
#include "main/server_facts.hpp"
#include "main/settings.hpp"
#include "main/slot_store_choice.hpp"
#include "main/version.hpp"
#include "store/postgres/client/server_lives.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "Sluice";
constexpr std::chrono::seconds kDrainPatience{10};

// The signals that the daemon waits for, kept from every thread, so that nothing ever runs inside a handler.
class Signals {
public:
    // REQUIRES: called before any other thread starts, because threads inherit what is blocked.
    Signals() {
        ::sigemptyset(&awaited_);
        for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
            ::sigaddset(&awaited_, signal);
            std::signal(signal, SIG_DFL);
        }
        std::signal(SIGPIPE, SIG_IGN);
        ::pthread_sigmask(SIG_BLOCK, &awaited_, nullptr);
    }

    int wait() const {
        int signal = 0;
        ::sigwait(&awaited_, &signal);
        return signal;
    }

    // From now on SIGTERM and SIGINT end the process at once.
    static void let_through() {
        sigset_t ending{};
        ::sigemptyset(&ending);
        ::sigaddset(&ending, SIGTERM);
        ::sigaddset(&ending, SIGINT);
        ::pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
    }

private:
    sigset_t awaited_{};
};

// All that runs, in the order in which it is taken down again from the bottom.
class Daemon {
public:
    explicit Daemon(const SettingsInForce& in_force)
        : in_force_{in_force}, log_{make_daemon_log(settings_.log_level, settings_.log_format, clock_)} {}

    Result<void, std::string> start(const net::HostPort& listener) {
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
        auto server = open_postgres_server(settings_, *log_, metrics_);
        if (!server) {
            return Unexpected{server.error()};
        }
        postgres_ = std::move(*server);
        auto opened = open_slot_store(settings_, {clock_, metrics_, *log_}, postgres_);
        if (!opened) {
            return Unexpected{opened.error()};
        }
        store_ = std::move(*opened);
        SlotServiceOptions options;
        options.batch_max = settings_.batch_max;
        options.workers = store_.workers;
        slots_ = std::make_unique<SlotService>(options,
                                               SlotServiceWorld{*store_.slots, metrics_, *log_, *runtime_});
        if (const auto opened_limits = open_limits(); !opened_limits) {
            return Unexpected{opened_limits.error()};
        }
        return listen(listener);
    }

    void run(const Signals& signals) {
        while (signals.wait() == SIGHUP) {
            reload();
        }
        log_->write(LogLevel::Info, kComponent, "Draining; a second signal ends the process at once");
        Signals::let_through();
        server_->drain(kDrainPatience);
        slots_->stop();
        limits_->stop();
        log_->write(LogLevel::Info, kComponent, "Stopped");
    }

private:
    Result<void, std::string> open_limits() {
        if (!settings_.plans.empty()) {
            if (const auto loaded = load_plans_file(settings_.plans, plans_); !loaded) {
                return Unexpected{loaded.error()};
            }
        }
        auto chosen = choose_limit_store(settings_, {*log_, limit_servers_, *runtime_, postgres_});
        if (!chosen) {
            return Unexpected{chosen.error()};
        }
        limit_store_ = std::move(*chosen);
        LimitServiceOptions options;
        options.calls = limit_store_.calls;
        options.deadline = settings_.limits.deadline;
        options.node.denials.longest = settings_.limits.deny_cache;
        options.node.blocks.lease_time = settings_.limits.lease_time;
        options.policy.open = {settings_.limits.fail_open_time, settings_.limits.fail_open_tokens};
        if (limit_store_.shelf != nullptr) {
            shared_plans_ = std::make_unique<SharedPlans>(plans_, *limit_store_.shelf, *log_, *runtime_);
        }
        limits_ = std::make_unique<LimitService>(
            options, LimitServiceWorld{*limit_store_.store, *limit_store_.local, plans_, metrics_.limits(),
                                       limit_servers_, *runtime_, shared_plans_.get()});
        if (limit_store_.publish) {
            publisher_ = std::make_unique<PlanPublisher>(plans_, limit_store_.publish, *log_, *runtime_);
        }
        return {};
    }

    Result<void, std::string> open_tls(const net::TlsFiles& files) {
        auto opened = net::TlsServer::open(files, "http/1.1");
        if (!opened) {
            return Unexpected{opened.error()};
        }
        tls_ = std::move(*opened);
        warn_of_certificate();
        return {};
    }

    // Clients would refuse it, but they say so to people who cannot mend it.
    void warn_of_certificate() {
        if (const std::string fault = net::fault_of(tls_->validity(), clock_.now()); !fault.empty()) {
            log_->write(LogLevel::Warn, kComponent,
                        "The TLS certificate " + tls_->files().certificate + " " + fault +
                            ", so clients will refuse it; put a new one in its place and send SIGHUP");
        }
    }

    Result<void, std::string> listen(const net::HostPort& listener) {
        http::ServerOptions options;
        options.host = listener.host;
        options.port = listener.port;
        options.io_threads = std::max(1U, std::thread::hardware_concurrency());
        options.tls = tls_.get();
        auto started = http::start_server(
            options, {*slots_, *limits_, settings_.default_config, gate_, [this] { return metrics_text(); },
                      clock_, *log_, [this] { return facts(); }, http::openapi_json()});
        if (!started) {
            return Unexpected{started.error()};
        }
        server_ = std::move(*started);
        open_server_.store(server_.get(), std::memory_order_release);
        const net::ServerUrl reached{{listener.host, server_->port()}, tls_ != nullptr};
        log_->announce(kComponent, "Sluice is ready on " + reached.text() + ", " + store_.described + ", " +
                                       limit_store_.described);
        return {};
    }

    std::string facts() const { return server_facts_json(in_force_, clock_.now()); }

    std::string metrics_text() const {
        // Acquire, with the release of listen(): a request may come before the server is ours.
        const http::Server* server = open_server_.load(std::memory_order_acquire);
        return metrics_.text({log_->lines_dropped(), server == nullptr ? 0 : server->connections_approx(),
                              postgres_ ? std::optional{postgres_->pool().figures()} : std::nullopt,
                              store_.space ? store_.space() : std::nullopt,
                              postgres_ ? postgres_->lives().figures() : postgres::ServerFigures{},
                              store_.health_figures ? store_.health_figures() : postgres::HealthFigures{},
                              plans_.current(),
                              limit_store_.figures ? std::optional{limit_store_.figures()} : std::nullopt});
    }

    void reload() {
        if (settings_.token_file.empty() && settings_.plans.empty() && !tls_) {
            log_->write(LogLevel::Info, kComponent,
                        "Asked to reload, but there is no token file and no plans file");
        }
        if (!settings_.token_file.empty()) {
            reload_token();
        }
        if (!settings_.plans.empty()) {
            reload_plans();
        }
        if (tls_) {
            reload_tls();
        }
    }

    void reload_tls() {
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

    void reload_token() {
        const auto loaded = gate_.load(settings_.token_file);
        if (loaded) {
            log_->write(LogLevel::Info, kComponent, "Reloaded the token from " + settings_.token_file);
        } else {
            log_->write(LogLevel::Error, kComponent, loaded.error() + " The token in force stays");
        }
    }

    void reload_plans() {
        const auto loaded = load_plans_file(settings_.plans, plans_);
        if (loaded) {
            log_->write(LogLevel::Info, kComponent,
                        "Reloaded the plans from " + settings_.plans + ": " +
                            std::to_string(plans_.current()->all().size()) + " in force");
        } else {
            plans_.refuse_file(loaded.error());
            log_->write(LogLevel::Error, kComponent, loaded.error() + " The plans in force stay");
        }
    }

    const SettingsInForce& in_force_;
    const Settings& settings_ = in_force_.settings;
    SystemClock clock_;
    const std::unique_ptr<Runtime> runtime_ = make_machine_runtime();
    std::unique_ptr<DaemonLog> log_;
    PrometheusMetrics metrics_;
    std::shared_ptr<postgres::Server> postgres_;  // Null: no store is on one.
    OpenSlotStore store_;
    std::unique_ptr<SlotService> slots_;
    PlanBook plans_;
    LimitServers limit_servers_{*log_, metrics_.limits()};
    ChosenLimitStore limit_store_;
    std::unique_ptr<SharedPlans> shared_plans_;
    std::unique_ptr<PlanPublisher> publisher_;
    std::unique_ptr<LimitService> limits_;
    http::AdminGate gate_;
    std::unique_ptr<net::TlsServer> tls_;  // Null: plain HTTP.
    std::atomic<http::Server*> open_server_{nullptr};
    std::unique_ptr<http::Server> server_;
};

ExitCode fail(std::ostream& errors, ExitCode code, const std::string& sentence) {
    errors << "sluice: " << sentence << std::endl;
    return code;
}

}  // namespace

ExitCode serve(const Invocation& invocation, const Environment& variables, std::ostream& out,
               std::ostream& errors) {
    const auto in_force = load_settings(invocation.typed, variables);
    if (!in_force) {
        return fail(errors, ExitCode::Usage, in_force.error());
    }
    if (invocation.has("print-config")) {
        out << print_settings(*in_force) << std::flush;
        return ExitCode::Ok;
    }
    const Settings& settings = in_force->settings;
    const auto listener = net::resolve_listener(settings.listen);
    if (!listener) {
        return fail(errors, ExitCode::Usage, listener.error());
    }
    if (!net::is_loopback(*listener) && settings.token_file.empty()) {
        return fail(errors, ExitCode::Usage,
                    "Others can reach " + settings.listen.text() +
                        ", so the admin routes need a token: give --token-file, or listen on 127.0.0.1.");
    }
    const Signals signals;
    raise_files_max();
    Daemon daemon{*in_force};
    if (const auto started = daemon.start(*listener); !started) {
        return fail(errors, ExitCode::Failed, started.error());
    }
    daemon.run(signals);
    return ExitCode::Ok;
}

}  // namespace sluice
