#include "main/prometheus_metrics.hpp"

#include <limits>
#include <sstream>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "main/metric_families.hpp"
#include "main/process_figures.hpp"
#include "main/version.hpp"

namespace sluice {
namespace {

using Families = MetricFamilies;
using prometheus::MetricType;

void add_process(Families& families) {
    const ProcessFigures process = read_process_figures();
    add_counter(families, {"process_cpu_seconds_total", "Processor time used, in seconds."},
                process.cpu_seconds);
    add_gauge(families, {"process_start_time_seconds", "When the process started, in seconds since 1970."},
              process.start_seconds);
    add_gauge(families, {"process_resident_memory_bytes", "Memory in use."},
              static_cast<double>(process.resident_bytes));
    add_gauge(families, {"process_open_fds", "Files and connections open."},
              static_cast<double>(process.files_open));
    add_gauge(families, {"process_max_fds", "Files and connections that may be open."},
              static_cast<double>(process.files_max));
    prometheus::ClientMetric build;
    build.gauge.value = 1;
    build.label.push_back({"version", std::string{version()}});
    families.push_back({"sluice_build_info", "Which Sluice this is.", MetricType::Gauge, {build}});
}

void add_postgres(Families& families, const OutsideFigures& outside) {
    add_gauge(families, {"sluice_postgres_connections_in_use", "Connections that somebody uses."},
              static_cast<double>(outside.pool->in_use));
    add_gauge(families, {"sluice_postgres_connections_idle", "Open connections that nobody uses."},
              static_cast<double>(outside.pool->idle));
    add_gauge(families, {"sluice_postgres_callers_waiting", "Callers that wait for a connection."},
              static_cast<double>(outside.pool->waiting));
    add_gauge(families, {"sluice_postgres_timeline", "The newest timeline of the server that was seen."},
              static_cast<double>(outside.server.timeline));
    add_gauge(families, {"sluice_postgres_writable", "1: a small write has succeeded lately."},
              outside.health.writable ? 1 : 0);
    add_gauge(families,
              {"sluice_postgres_clock_difference_seconds", "How far this clock is ahead of the server's."},
              std::chrono::duration<double>(outside.health.clock_difference).count());
    add_counter(families,
                {"sluice_postgres_strays_refused_total", "Connections to an old primary, not used."},
                static_cast<double>(outside.server.strays_refused));
    add_counter(families,
                {"sluice_postgres_sessions_ended_total", "Sessions left on the server, ended later."},
                static_cast<double>(outside.server.sessions_ended));
}

void add_space(Families& families, const StoreSpace& space) {
    add_gauge(families, {"sluice_store_free_bytes", "Free space on the disk of the embedded store."},
              static_cast<double>(space.free));
    add_gauge(families, {"sluice_store_reserve_bytes", "Free space below which no new slot is taken."},
              static_cast<double>(space.reserve));
    add_gauge(families, {"sluice_store_full", "1 while new slots are refused for want of space."},
              space.room() == StoreRoom::Enough ? 0 : 1);
}

}  // namespace

void PrometheusMetrics::assigned(std::chrono::nanoseconds duration, std::int64_t depth) {
    bump(assigned_);
    durations_.add(duration.count());
    depths_.add(depth);
}

void PrometheusMetrics::repeated(std::chrono::nanoseconds duration) {
    bump(repeated_);
    durations_.add(duration.count());
}

void PrometheusMetrics::batch_run(std::size_t commands) { batches_.add(static_cast<std::int64_t>(commands)); }

std::string PrometheusMetrics::text(const OutsideFigures& outside) const {
    constexpr double kNanosecond = 1e-9;
    Families families;
    add_histogram(families,
                  {"rate_limiter_slot_assignment_duration_seconds", "From a request's arrival to its slot."},
                  durations_, kNanosecond);
    add_histogram(
        families,
        {"rate_limiter_window_lookahead_depth", "Windows between the requested and the assigned one."},
        depths_, 1);
    add_counter(families, {"rate_limiter_window_contention_total", "Windows that others held."}, contended_);
    add_counter(families, {"rate_limiter_config_cache_hits_total", "Configs found in the cache."},
                cache_hits_);
    add_counter(families, {"rate_limiter_config_cache_misses_total", "Configs read from the store."},
                cache_misses_);
    add_counter(
        families,
        {"rate_limiter_slot_assignment_failures_total", "Events for which every window in reach was full."},
        exhausted_);
    add_counter(families, {"sluice_slots_assigned_total", "Events that got a slot."}, assigned_);
    add_counter(families, {"sluice_slots_repeated_total", "Events that had a slot already."}, repeated_);
    add_counter(families,
                {"sluice_requests_refused_total", "Requests not run: the queue was full or time was up."},
                refused_);
    add_histogram(families, {"sluice_batch_commands", "Requests that one write of the store served."},
                  batches_, 1);
    add_counter(families, {"sluice_log_lines_dropped_total", "Log lines lost because too many waited."},
                static_cast<double>(outside.log_lines_dropped));
    add_gauge(families, {"sluice_http_connections", "Open HTTP connections."},
              static_cast<double>(outside.http_connections));
    if (outside.pool) {
        add_postgres(families, outside);
        add_histogram(families, {"sluice_postgres_wait_seconds", "How long callers waited for a connection."},
                      pool_waits_, kNanosecond);
    }
    if (outside.store_space) {
        add_space(families, *outside.store_space);
    }
    if (outside.plans) {
        limits_.collect(families, *outside.plans, outside.limit_keys);
    }
    add_process(families);
    std::ostringstream text;
    prometheus::TextSerializer{}.Serialize(text, families);
    return text.str();
}

}  // namespace sluice
