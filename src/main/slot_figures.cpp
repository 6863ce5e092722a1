#include "main/slot_figures.hpp"

#include "main/metric_families.hpp"

namespace sluice {

void add_figures(MetricFamilies& families, const StoreSpace& space) {
    add_gauge(families, {"sluice_store_free_bytes", "Free space on the disk of the embedded store."},
              static_cast<double>(space.free));
    add_gauge(families, {"sluice_store_reserve_bytes", "Free space below which no new slot is taken."},
              static_cast<double>(space.reserve));
    add_gauge(families, {"sluice_store_full", "1 while new slots are refused for want of space."},
              space.room() == StoreRoom::Enough ? 0 : 1);
}

void add_figures(MetricFamilies& families, const postgres::HealthFigures& health) {
    add_gauge(families, {"sluice_postgres_writable", "1: a small write has succeeded lately."},
              health.writable ? 1 : 0);
    add_gauge(families,
              {"sluice_postgres_clock_difference_seconds", "How far this clock is ahead of the server's."},
              std::chrono::duration<double>(health.clock_difference).count());
}

void SlotFigures::assigned(std::chrono::nanoseconds duration, std::int64_t depth) {
    bump(assigned_);
    durations_.add(duration.count());
    depths_.add(depth);
}

void SlotFigures::repeated(std::chrono::nanoseconds duration) {
    bump(repeated_);
    durations_.add(duration.count());
}

void SlotFigures::batch_run(std::size_t commands) { batches_.add(static_cast<std::int64_t>(commands)); }

void SlotFigures::collect(MetricFamilies& families) const {
    constexpr double kNanosecond = 1e-9;
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
}

}  // namespace sluice
