#include "main/metrics_text.hpp"

#include <sstream>

#include <prometheus/text_serializer.h>

#include "main/metric_families.hpp"
#include "main/process_figures.hpp"
#include "main/version.hpp"

namespace sluice {
namespace {

void add_process(MetricFamilies& families) {
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
    families.push_back(
        {"sluice_build_info", "Which Sluice this is.", prometheus::MetricType::Gauge, {build}});
}

}  // namespace

std::string metrics_text(const CollectFigures& collect, const ServerFigures& server) {
    MetricFamilies families;
    collect(families);
    add_counter(families, {"sluice_log_lines_dropped_total", "Log lines lost because too many waited."},
                static_cast<double>(server.log_lines_dropped));
    add_gauge(families, {"sluice_http_connections", "Open HTTP connections."},
              static_cast<double>(server.http_connections));
    add_process(families);
    std::ostringstream text;
    prometheus::TextSerializer{}.Serialize(text, families);
    return text.str();
}

}  // namespace sluice
