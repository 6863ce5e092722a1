#include <gmock/gmock.h>

#include "main/limit_figures.hpp"
#include "main/metric_families.hpp"
#include "main/metrics_text.hpp"
#include "main/slot_figures.hpp"
#include "main/version.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

bool has_line(const std::string& text, std::string_view line) {
    return text.find(std::string{'\n'}.append(line).append("\n")) != std::string::npos;
}

std::string text_of(const SlotFigures& slots, const ServerFigures& server = {}) {
    return metrics_text([&](MetricFamilies& families) { slots.collect(families); }, server);
}

TEST(PrometheusMetrics, ShowEverySeriesFromTheStart) {
    const std::string text = text_of(SlotFigures{});

    for (const char* series : {
             "rate_limiter_slot_assignment_duration_seconds_count 0",
             "rate_limiter_slot_assignment_duration_seconds_bucket{le=\"0.0001\"} 0",
             "rate_limiter_slot_assignment_duration_seconds_bucket{le=\"+Inf\"} 0",
             "rate_limiter_window_contention_total 0",
             "rate_limiter_window_lookahead_depth_count 0",
             "rate_limiter_config_cache_hits_total 0",
             "rate_limiter_config_cache_misses_total 0",
             "rate_limiter_slot_assignment_failures_total 0",
             "sluice_slots_assigned_total 0",
             "sluice_slots_repeated_total 0",
             "sluice_requests_refused_total 0",
             "sluice_batch_commands_count 0",
             "sluice_log_lines_dropped_total 0",
             "sluice_http_connections 0",
         }) {
        EXPECT_TRUE(has_line(text, series)) << series;
    }
    EXPECT_THAT(text, HasSubstr("sluice_build_info{version=\"" + std::string{version()} + "\"} 1"));
}

TEST(PrometheusMetrics, HaveATypeAndAHelpForEachFamily) {
    const std::string text = text_of(SlotFigures{});

    for (const char* type : {
             "rate_limiter_slot_assignment_duration_seconds histogram",
             "rate_limiter_window_lookahead_depth histogram",
             "sluice_batch_commands histogram",
             "rate_limiter_window_contention_total counter",
             "sluice_http_connections gauge",
             "process_resident_memory_bytes gauge",
         }) {
        EXPECT_THAT(text, HasSubstr("# TYPE " + std::string{type} + "\n"));
        const std::string name{type, std::string_view{type}.find(' ')};
        EXPECT_THAT(text, HasSubstr("# HELP " + name + " "));
    }
}

TEST(PrometheusMetrics, CountWhatHappened) {
    SlotFigures metrics;
    metrics.assigned(1ms, 0);
    metrics.assigned(1ms + 1ns, 3);
    metrics.assigned(1h, 1'000'000);
    metrics.repeated(50us);
    metrics.exhausted();
    metrics.contended();
    metrics.refused();
    metrics.batch_run(256);
    metrics.config_cache_hit();
    metrics.config_cache_miss();

    const std::string text = text_of(metrics, {.log_lines_dropped = 7, .http_connections = 9});

    for (const char* series : {
             "rate_limiter_slot_assignment_duration_seconds_bucket{le=\"0.0001\"} 1",
             "rate_limiter_slot_assignment_duration_seconds_bucket{le=\"0.001\"} 2",
             "rate_limiter_slot_assignment_duration_seconds_bucket{le=\"0.0025\"} 3",
             "rate_limiter_slot_assignment_duration_seconds_bucket{le=\"+Inf\"} 4",
             "rate_limiter_slot_assignment_duration_seconds_count 4",
             "rate_limiter_window_lookahead_depth_bucket{le=\"0\"} 1",
             "rate_limiter_window_lookahead_depth_bucket{le=\"5\"} 2",
             "rate_limiter_window_lookahead_depth_sum 1000003",
             "sluice_batch_commands_bucket{le=\"128\"} 0",
             "sluice_batch_commands_bucket{le=\"256\"} 1",
             "sluice_slots_assigned_total 3",
             "sluice_slots_repeated_total 1",
             "rate_limiter_slot_assignment_failures_total 1",
             "rate_limiter_window_contention_total 1",
             "sluice_requests_refused_total 1",
             "rate_limiter_config_cache_hits_total 1",
             "rate_limiter_config_cache_misses_total 1",
             "sluice_log_lines_dropped_total 7",
             "sluice_http_connections 9",
         }) {
        EXPECT_TRUE(has_line(text, series)) << series;
    }
}

TEST(PrometheusMetrics, CountChecksByPlanAndResult) {
    LimitFigures figures;
    PlanBook book;
    std::vector<PlanDraft> drafts;
    for (std::size_t i = 0; i <= LimitFigures::kPlanLabels; ++i) {
        drafts.push_back(
            {.name = "p" + std::to_string(i), .algorithm = "token_bucket", .capacity = 1, .refill = "1/s"});
    }
    ASSERT_TRUE(book.load(drafts));
    const auto plans = book.current();
    const auto decide = [&](std::string_view plan, LimitReason reason, bool allowed) {
        LimitAnswer answer;
        answer.plan = plans->find(plan);
        answer.reason = reason;
        answer.allowed = allowed;
        figures.decided(answer);
    };
    decide("p0", LimitReason::Ok, true);
    decide("p0", LimitReason::Local, true);
    decide("p0", LimitReason::Local, false);
    decide("p200", LimitReason::Denied, false);
    figures.store_failed(StoreFailure::Late);
    figures.store_spared(StoreSpared::Block);
    figures.server_changed(ServerState::Down);
    figures.server_changed(ServerState::Down);
    figures.server_changed(ServerState::Answers);

    const MemoryLimitFigures keys{.keys_held = 5, .keys_refused = 6, .keys_expired = 7};
    const std::string text =
        metrics_text([&](MetricFamilies& families) { figures.collect(families, *plans, keys); }, {});

    for (const char* series : {
             "sluice_limit_checks_total{plan=\"p0\",result=\"ok\"} 1",
             "sluice_limit_checks_total{plan=\"p0\",result=\"local\"} 1",
             "sluice_limit_checks_total{plan=\"p0\",result=\"local_denied\"} 1",
             "sluice_limit_checks_total{plan=\"p0\",result=\"fail_closed\"} 0",
             "sluice_limit_checks_total{plan=\"other\",result=\"denied\"} 1",
             "sluice_limit_store_failures_total{kind=\"late\"} 1",
             "sluice_limit_store_spared_total{by=\"denial\"} 0",
             "sluice_limit_store_spared_total{by=\"block\"} 1",
             "sluice_limit_servers_down 1",
             "sluice_limit_breaker_openings_total 2",
             "sluice_limit_plans 201",
             "sluice_limit_plans_refused 0",
             "sluice_limit_store_duration_seconds_count 0",
             "sluice_limit_keys 5",
             "sluice_limit_keys_refused_total 6",
             "sluice_limit_keys_expired_total 7",
         }) {
        EXPECT_TRUE(has_line(text, series)) << series;
    }
    EXPECT_THAT(text, Not(HasSubstr("plan=\"p200\"")));
}

TEST(PrometheusMetrics, DescribeTheProcess) {
    const std::string text = text_of(SlotFigures{});

    for (const char* name : {"process_cpu_seconds_total", "process_start_time_seconds",
                             "process_resident_memory_bytes", "process_open_fds", "process_max_fds"}) {
        EXPECT_THAT(text, ::testing::ContainsRegex("\n" + std::string{name} + " [0-9.e+]*[1-9]")) << name;
    }
}

}  // namespace
}  // namespace sluice
