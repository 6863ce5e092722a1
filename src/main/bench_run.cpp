#include "main/bench_run.hpp"

#include <csignal>
#include <ostream>

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include "base/json_text.hpp"
#include "main/human_output.hpp"
#include "main/process_figures.hpp"

namespace sluice {
namespace {

constexpr std::size_t kConnectionsMax = 50'000;

double milliseconds(std::chrono::nanoseconds duration) { return static_cast<double>(duration.count()) / 1e6; }
double seconds(std::chrono::nanoseconds duration) { return static_cast<double>(duration.count()) / 1e9; }

std::uint64_t errors_of(const LoadReport& report) {
    return report.answered() - report.succeeded() + report.lost;
}

double rate_of(const LoadReport& report) {
    return report.took.count() > 0 ? static_cast<double>(report.succeeded()) / seconds(report.took) : 0;
}

// Says how it goes: over and over on one line of a terminal, otherwise in lines.
class ProgressLine {
public:
    ProgressLine(std::ostream& out, std::string_view what)
        : out_{out}, what_{what}, terminal_{::isatty(STDERR_FILENO) == 1} {}

    [[nodiscard]] std::chrono::seconds every() const { return std::chrono::seconds{terminal_ ? 1 : 2}; }

    void show(const LoadReport& report, std::chrono::nanoseconds since_start) {
        const double rate =
            static_cast<double>(report.succeeded() - succeeded_before_) / seconds(since_start - before_);
        succeeded_before_ = report.succeeded();
        before_ = since_start;
        out_ << (terminal_ ? "\r" : "")
             << fmt::format("{:.0f} s: {:.0f} {}/s, {} in all, p99 {:.3f} ms, {} errors",
                            seconds(since_start), rate, what_, report.succeeded(),
                            milliseconds(report.latency.quantile(0.99)), errors_of(report))
             << (terminal_ ? "\033[K" : "\n") << std::flush;
        shown_ = true;
    }

    void end() {
        if (terminal_ && shown_) {
            out_ << std::endl;
        }
    }

private:
    std::ostream& out_;
    const std::string_view what_;
    const bool terminal_;
    bool shown_ = false;
    std::uint64_t succeeded_before_ = 0;
    std::chrono::nanoseconds before_{0};
};

// Ctrl-C, kept from ending the process while this lives. A second one does.
class Interrupt {
public:
    Interrupt() {
        ::sigemptyset(&signals_);
        ::sigaddset(&signals_, SIGINT);
        ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    }
    ~Interrupt() { ::pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr); }
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    [[nodiscard]] bool came() const {
        const timespec now{};
        const bool came = ::sigtimedwait(&signals_, nullptr, &now) == SIGINT;
        if (came) {
            ::pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
        }
        return came;
    }

private:
    sigset_t signals_{};
};

std::string json_report(const LoadPlan& plan, const LoadReport& report) {
    JsonObject statuses;
    for (const auto& [status, count] : report.statuses) {
        statuses.number(std::to_string(status), count);
    }
    const auto& latency = report.latency;
    const auto figure = [](double value) { return fmt::format("{:.3f}", value); };
    return JsonObject{}
        .number("connections", plan.connections)
        .number("requests", report.answered() + report.lost)
        .number("succeeded", report.succeeded())
        .number("errors", errors_of(report))
        .number("lost", report.lost)
        .raw("statuses", statuses.done())
        .raw("seconds", figure(seconds(report.took)))
        .raw("ratePerSecond", figure(rate_of(report)))
        .raw("p50Ms", figure(milliseconds(latency.quantile(0.5))))
        .raw("p99Ms", figure(milliseconds(latency.quantile(0.99))))
        .raw("p999Ms", figure(milliseconds(latency.quantile(0.999))))
        .raw("maxMs", figure(milliseconds(latency.most())))
        .done();
}

std::string text_report(const LoadReport& report, std::string_view what) {
    const auto& latency = report.latency;
    std::string text = fmt::format(
        "{:<9} {} in {:.3f} s\nrate      {:.0f} {}/s\np50       {:.3f} ms\np99       {:.3f} ms\n"
        "p99.9     {:.3f} ms\nmax       {:.3f} ms\nerrors    {}\n",
        what, report.succeeded(), seconds(report.took), rate_of(report), what,
        milliseconds(latency.quantile(0.5)), milliseconds(latency.quantile(0.99)),
        milliseconds(latency.quantile(0.999)), milliseconds(latency.most()), errors_of(report));
    for (const auto& [status, count] : report.statuses) {
        text += status < 300 ? "" : fmt::format("  {}     {}\n", status, count);
    }
    if (report.lost > 0) {
        text += fmt::format("  lost    {}\n", report.lost);
    }
    return text;
}

}  // namespace

Result<LoadPlan, std::string> read_load_plan(const Invocation& invocation, const CalledServer& server) {
    const auto resolved = net::resolve_listener(server.url.address);
    if (!invocation.has("yes") && (!resolved || !net::is_loopback(*resolved))) {
        return Unexpected{server.url.address.text() +
                          " is not on this machine, and this loads it as much as it bears; if that is meant, "
                          "add --yes."};
    }
    LoadPlan plan;
    plan.server = server.url;
    plan.tls = server.tls;
    plan.connections = std::stoull(invocation.value("connections"));
    plan.duration = std::chrono::seconds{std::stoll(invocation.value("duration"))};
    if (invocation.has("count")) {
        plan.count = std::stoull(invocation.value("count"));
    }
    if (invocation.has("rate")) {
        plan.per_second = std::stoull(invocation.value("rate"));
    }
    if (plan.connections == 0 || plan.connections > kConnectionsMax) {
        return Unexpected{fmt::format("--connections must be from 1 to {}.", kConnectionsMax)};
    }
    if (plan.duration.count() == 0 || plan.duration > std::chrono::hours{24 * 31} || plan.count == 0 ||
        plan.per_second == 0) {
        return Unexpected{
            std::string{"--duration, --count and --rate must be above 0, and the first below a month."}};
    }
    return plan;
}

ExitCode run_bench(const Invocation& invocation, const LoadPlan& plan, std::string_view what,
                   std::pair<std::ostream&, std::ostream&> out_and_progress) {
    auto& [out, progress] = out_and_progress;
    raise_files_max();
    std::signal(SIGPIPE, SIG_IGN);  // TLS writes to connections that the server may have closed.
    ProgressLine line{progress, what};
    const Interrupt interrupt;
    LoadPlan watched = plan;
    watched.interrupted = [&interrupt] { return interrupt.came(); };
    const auto report = run_load(
        watched, line.every(),
        [&line](const LoadReport& so_far, std::chrono::nanoseconds since) { line.show(so_far, since); });
    line.end();
    if (!report) {
        return fail_unreachable(progress, {report.error()});
    }
    out << (invocation.wants_json() ? json_report(plan, *report) + "\n" : text_report(*report, what));
    if (errors_of(*report) == 0) {
        return ExitCode::Ok;
    }
    return fail(progress, ExitCode::Failed,
                report->refusal_status != 0 ? problem_sentence(report->refusal_status, report->refusal_body)
                                            : std::to_string(report->lost) + " requests got no answer.");
}

}  // namespace sluice
