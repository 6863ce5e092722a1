#include "main/dispatch_tallies.hpp"

#include "main/metric_families.hpp"

namespace sluice {
namespace {

constexpr std::array<const char*, 3> kTargetNames{"log", "webhook", "kafka"};

prometheus::ClientMetric labelled(const char* label, std::string value) {
    prometheus::ClientMetric metric;
    metric.label = {{label, std::move(value)}};
    return metric;
}

void add_by_target(MetricFamilies& families, MetricTitle title,
                   const std::array<std::atomic<std::uint64_t>, 3>& counts) {
    prometheus::MetricFamily family{title.name, title.help, prometheus::MetricType::Counter, {}};
    for (std::size_t i = 0; i < counts.size(); ++i) {
        auto metric = labelled("target", kTargetNames[i]);
        metric.counter.value = static_cast<double>(counts[i].load(std::memory_order_relaxed));
        family.metric.push_back(std::move(metric));
    }
    families.push_back(std::move(family));
}

const char* name_of_lane(LaneKind kind) {
    switch (kind) {
        case LaneKind::Due: return "due";
        case LaneKind::Pool: return "pool";
        case LaneKind::Late: return "late";
        case LaneKind::Host: return "host";
        case LaneKind::Endpoint: return "endpoint";
        case LaneKind::Config: return "config";
        case LaneKind::Claimed: return "claimed";
        case LaneKind::Dead: return "dead";
    }
    return "";
}

void add_lanes(MetricFamilies& families, const std::vector<LaneCount>& lanes) {
    prometheus::MetricFamily family{"sluice_dispatch_waiting",
                                    "Works that are not over, by what they wait for.",
                                    prometheus::MetricType::Gauge,
                                    {}};
    for (const LaneCount& lane : lanes) {
        auto metric = labelled("lane", name_of_lane(lane.kind));
        metric.gauge.value = static_cast<double>(lane.works);
        family.metric.push_back(std::move(metric));
    }
    families.push_back(std::move(family));
}

// Gates are labels only as far as somebody who reads them can take them in.
void add_gates(MetricFamilies& families, const std::vector<GateFigures>& gates) {
    constexpr std::size_t kGatesShown = 50;
    prometheus::MetricFamily rate{"sluice_dispatch_gate_max_per_second",
                                  "The hard rate of a pool or a host.",
                                  prometheus::MetricType::Gauge,
                                  {}};
    prometheus::MetricFamily out{"sluice_dispatch_gate_permits_out",
                                 "Permits that are out: calls of about the last second.",
                                 prometheus::MetricType::Gauge,
                                 {}};
    for (std::size_t i = 0; i < gates.size() && i < kGatesShown; ++i) {
        const GateFigures& gate = gates[i];
        const char* const label = gate.subject.kind == SubjectKind::Host ? "host" : "pool";
        auto metric = labelled(label, gate.subject.name);
        metric.gauge.value = gate.terms.max_per_second;
        rate.metric.push_back(metric);
        metric.gauge.value = static_cast<double>(gate.out);
        out.metric.push_back(std::move(metric));
    }
    families.push_back(std::move(rate));
    families.push_back(std::move(out));
}

}  // namespace

void DispatchTallies::began(TargetKind /*target*/, Duration lateness) { lateness_.add(lateness.count()); }

void DispatchTallies::collect(MetricFamilies& families, const DispatchFigures& state,
                              const std::vector<LaneCount>& lanes) const {
    constexpr double kMillisecond = 1e-3;
    add_by_target(families, {"sluice_dispatch_sent_total", "Works that arrived."}, sent_);
    add_by_target(families, {"sluice_dispatch_retried_total", "Attempts that failed and are repeated."},
                  retried_);
    add_by_target(families, {"sluice_dispatch_dead_total", "Works that were given up: dead or expired."},
                  died_);
    add_by_target(families, {"sluice_dispatch_lost_total", "Claims that ended without a known outcome."},
                  lost_);
    add_histogram(families, {"sluice_dispatch_lateness_seconds", "From a work's time to its first attempt."},
                  lateness_, kMillisecond);
    add_counter(families,
                {"sluice_dispatch_store_failures_total", "Takes and settlements that the store refused."},
                store_failures_);
    add_counter(families, {"sluice_dispatch_keeper_gained_total", "How often this node became the keeper."},
                became_keeper_);
    add_counter(families, {"sluice_dispatch_keeper_lost_total", "How often it stopped being the keeper."},
                lost_keeper_);
    add_gauge(families, {"sluice_dispatch_is_keeper", "1: this node sends what passes the gates."},
              state.is_keeper ? 1 : 0);
    add_gauge(families, {"sluice_dispatch_in_flight", "Calls under way."},
              static_cast<double>(state.in_flight));
    add_gauge(families, {"sluice_dispatch_failing_endpoints", "Endpoints that are left alone for a while."},
              static_cast<double>(state.failing_endpoints));
    add_lanes(families, lanes);
    add_gates(families, state.gates);
}

}  // namespace sluice
