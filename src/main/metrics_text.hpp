#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace prometheus {
struct MetricFamily;
}

namespace sluice {

// Figures of the server itself, at the moment of asking.
struct ServerFigures {
    std::uint64_t log_lines_dropped = 0;
    std::uint64_t http_connections = 0;
};

// Appends the families of all parts.
using CollectFigures = std::function<void(std::vector<prometheus::MetricFamily>&)>;

// What operators measure, in Prometheus's text form: of the parts, of the server, and of the process. Every
// series is there from the start.
std::string metrics_text(const CollectFigures& collect, const ServerFigures& server);

}  // namespace sluice
