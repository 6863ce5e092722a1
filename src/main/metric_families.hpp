#pragma once

#include <atomic>
#include <limits>
#include <string>
#include <vector>

#include <prometheus/metric_family.h>

#include "main/tally.hpp"

// How figures become families of Prometheus.
namespace sluice {

using MetricFamilies = std::vector<prometheus::MetricFamily>;

struct MetricTitle {
    const char* name;
    const char* help;
};

inline void add_counter(MetricFamilies& families, MetricTitle title, double value) {
    prometheus::ClientMetric metric;
    metric.counter.value = value;
    families.push_back({title.name, title.help, prometheus::MetricType::Counter, {metric}});
}

inline void add_counter(MetricFamilies& families, MetricTitle title,
                        const std::atomic<std::uint64_t>& count) {
    add_counter(families, title, static_cast<double>(count.load(std::memory_order_relaxed)));
}

inline void add_gauge(MetricFamilies& families, MetricTitle title, double value) {
    prometheus::ClientMetric metric;
    metric.gauge.value = value;
    families.push_back({title.name, title.help, prometheus::MetricType::Gauge, {metric}});
}

// `unit` is what one of the tally's numbers is worth.
template <std::size_t N>
void add_histogram(MetricFamilies& families, MetricTitle title, const Tally<N>& tally, double unit) {
    prometheus::ClientMetric metric;
    auto& histogram = metric.histogram;
    for (std::size_t i = 0; i <= N; ++i) {
        histogram.sample_count += tally.count(i);
        const double bound =
            i < N ? static_cast<double>(tally.bounds()[i]) * unit : std::numeric_limits<double>::infinity();
        histogram.bucket.push_back({histogram.sample_count, bound});
    }
    histogram.sample_sum = static_cast<double>(tally.sum()) * unit;
    families.push_back({title.name, title.help, prometheus::MetricType::Histogram, {metric}});
}

}  // namespace sluice
