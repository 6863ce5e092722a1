#include "main/limit_figures.hpp"

#include <algorithm>

#include "main/metric_families.hpp"

namespace sluice {
namespace {

constexpr std::array<const char*, 8> kResultNames{"ok",          "denied", "shadow",    "fail_open",
                                                  "fail_closed", "local",  "contended", "local_denied"};
constexpr std::array<const char*, 4> kFailureNames{"late", "unavailable", "contended", "full"};
constexpr std::array<const char*, 2> kSparingNames{"denial", "block"};

double value_of(const std::atomic<std::uint64_t>& count) {
    return static_cast<double>(count.load(std::memory_order_relaxed));
}

// One counter for each name of a label.
template <std::size_t N>
prometheus::MetricFamily by_label(MetricTitle title, const char* label,
                                  const std::array<const char*, N>& names,
                                  const std::array<std::atomic<std::uint64_t>, N>& counts) {
    prometheus::MetricFamily family{title.name, title.help, prometheus::MetricType::Counter, {}};
    for (std::size_t i = 0; i < N; ++i) {
        prometheus::ClientMetric metric;
        metric.label = {{label, names[i]}};
        metric.counter.value = value_of(counts[i]);
        family.metric.push_back(std::move(metric));
    }
    return family;
}

}  // namespace

// Relaxed everywhere: see Tally.
void LimitFigures::decided(const LimitAnswer& answer) {
    const std::size_t row = std::min<std::size_t>(answer.plan->number, kPlanLabels);
    const bool local_denied = answer.reason == LimitReason::Local && !answer.allowed;
    const std::size_t column = local_denied ? kResults - 1 : static_cast<std::size_t>(answer.reason);
    decided_[row][column].fetch_add(1, std::memory_order_relaxed);
}

void LimitFigures::store_failed(StoreFailure failure) {
    failures_.at(static_cast<std::size_t>(failure)).fetch_add(1, std::memory_order_relaxed);
}

void LimitFigures::store_called(std::size_t checks, std::chrono::nanoseconds duration) {
    durations_.add(duration.count());
    batches_.add(static_cast<std::int64_t>(checks));
}

void LimitFigures::store_spared(StoreSpared by) {
    spared_.at(static_cast<std::size_t>(by)).fetch_add(1, std::memory_order_relaxed);
}

void LimitFigures::server_changed(ServerState state) {
    const bool down = state == ServerState::Down;
    servers_down_.fetch_add(down ? 1 : -1, std::memory_order_relaxed);
    breaker_openings_.fetch_add(down ? 1 : 0, std::memory_order_relaxed);
}

void LimitFigures::collect(MetricFamilies& families, const PlanSet& plans,
                           const std::optional<MemoryLimitFigures>& memory) const {
    prometheus::MetricFamily checks{"sluice_limit_checks_total",
                                    "Checks by the plan that spoke and by what came of them.",
                                    prometheus::MetricType::Counter,
                                    {}};
    const auto add_row = [&](std::size_t row, const std::string& plan) {
        for (std::size_t column = 0; column < kResults; ++column) {
            prometheus::ClientMetric metric;
            metric.label = {{"plan", plan}, {"result", kResultNames[column]}};
            metric.counter.value = value_of(decided_[row][column]);
            checks.metric.push_back(std::move(metric));
        }
    };
    for (const auto& booked : plans.all()) {
        if (booked->number < kPlanLabels) {
            add_row(booked->number, booked->plan.name());
        }
    }
    add_row(kPlanLabels, "other");
    families.push_back(std::move(checks));

    families.push_back(by_label(
        {"sluice_limit_store_failures_total", "Checks that the store of limits did not decide, by why."},
        "kind", kFailureNames, failures_));
    families.push_back(by_label(
        {"sluice_limit_store_spared_total", "Checks that were answered without the store, by what answered."},
        "by", kSparingNames, spared_));
    add_gauge(families,
              {"sluice_limit_servers_down", "Servers of limits that do not answer: their breaker is open."},
              static_cast<double>(servers_down_.load(std::memory_order_relaxed)));
    add_counter(families,
                {"sluice_limit_breaker_openings_total", "Times the breaker before a server opened."},
                breaker_openings_);
    add_gauge(families, {"sluice_limit_plans", "Plans in force."}, static_cast<double>(plans.all().size()));
    add_gauge(families,
              {"sluice_limit_plans_refused", "1 while the plans file is refused and older plans stay."},
              plans.file_error().empty() ? 0 : 1);
    constexpr double kNanosecond = 1e-9;
    add_histogram(families,
                  {"sluice_limit_store_duration_seconds", "Calls of a store of limits that blocks."},
                  durations_, kNanosecond);
    add_histogram(families, {"sluice_limit_batch_checks", "Checks that one such call served."}, batches_, 1);
    if (memory) {
        add_gauge(families, {"sluice_limit_keys", "Keys that the memory store holds."},
                  static_cast<double>(memory->keys_held));
        add_counter(families, {"sluice_limit_keys_refused_total", "Checks of new keys that found it full."},
                    static_cast<double>(memory->keys_refused));
        add_counter(families, {"sluice_limit_keys_expired_total", "Idle keys that made room for others."},
                    static_cast<double>(memory->keys_expired));
    }
}

}  // namespace sluice
