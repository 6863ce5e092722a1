#include "report.hpp"

#include "checkpoint_ear.hpp"
#include "max_wal_size.hpp"
#include "settings.hpp"
#include "standing.hpp"

namespace sluice::walrus {
namespace {

// The standing as it is at this second, with the governor's state settled.
struct Moment {
    Standing standing;
    GovernorState governor;
    std::int64_t now = 0;
};

Moment read_moment() {
    Moment moment{.standing = read_standing(), .governor = {}, .now = unix_seconds()};
    moment.governor = settle(moment.standing.real, governor_policy(), moment.now);
    return moment;
}

std::int64_t or_zero(Ticks time) { return time == kNever ? 0 : time; }

std::int64_t cooldown_remaining(const Moment& moment) {
    // Asked without a cap, so that neither a full hour nor a cap of 0 hides the cooldown.
    GovernorPolicy policy = governor_policy();
    policy.changes_max = kForever;
    return look(moment.governor, policy, moment.now).remaining;
}

bool hourly_limit_reached(const Moment& moment) {
    return moment.governor.changes >= settings().max_changes_per_hour;
}

void describe_settings(JsonText& json) {
    const Settings& set = settings();
    json.flag("enabled", set.enable);
    json.number("current_max_wal_size_mb", current_size());
    json.number("configured_maximum_mb", set.max_mb);
    json.number("threshold", set.threshold);
    json.number("checkpoint_timeout_sec", CheckPointTimeout);
    json.flag("shrink_enabled", set.shrink_enable);
    json.real("shrink_factor", set.shrink_factor);
    json.number("shrink_intervals", set.shrink_intervals);
    json.number("min_size_mb", set.min_size_mb);
    json.number("smallest_size_mb", smallest_size());
    json.number("cooldown_sec", set.cooldown_sec);
    json.number("max_changes_per_hour", set.max_changes_per_hour);
    json.flag("dry_run", set.dry_run);
    json.flag("proactive", set.proactive);
    json.flag("at_ceiling", current_size() >= set.max_mb);
}

void describe_watch(const Standing& standing, JsonText& json) {
    json.flag("worker_running", standing.worker_pid != 0);
    json.time("last_check_time", standing.last_check);
    json.number("total_adjustments", standing.adjustments);
    json.number("quiet_intervals", standing.watch.quiet());
    json.text("counted_checkpoints", hears_checkpoints() ? "wal" : "requested");
    json.flag("fixed_by_command_line", is_fixed_by_command_line());
    const auto p95 = standing.watch.rates().p95();
    if (p95) {
        json.number("wal_p95_bytes", *p95);
    } else {
        json.null("wal_p95_bytes");
    }
}

void describe_governor(const Moment& moment, JsonText& json) {
    const std::int64_t remaining = cooldown_remaining(moment);
    json.time("last_adjustment_time", or_zero(moment.governor.last_change));
    json.time("last_change_time", or_zero(moment.governor.last_change));
    json.flag("cooldown_active", remaining > 0);
    if (moment.governor.last_change == kNever) {
        json.null("cooldown_remaining_sec");
    } else {
        json.number("cooldown_remaining_sec", remaining);
    }
    json.number("changes_this_hour", moment.governor.changes);
    json.time("hourly_window_start", or_zero(moment.governor.window_start));
    json.flag("hourly_limit_reached", hourly_limit_reached(moment));
}

struct Metric {
    const char* name;
    const char* help;
    std::int64_t value;
};

void add_head(StringInfo out, const char* name, const char* type, const char* help) {
    appendStringInfo(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void add_gauge(StringInfo out, const Metric& metric) {
    add_head(out, metric.name, "gauge", metric.help);
    appendStringInfo(out, "%s " INT64_FORMAT "\n", metric.name, metric.value);
}

void add_counter(StringInfo out, const Metric& metric) {
    add_head(out, metric.name, "counter", metric.help);
    appendStringInfo(out, "%s " INT64_FORMAT "\n", metric.name, metric.value);
}

void add_labelled(StringInfo out, const char* name, const char* label, std::int64_t value) {
    appendStringInfo(out, "%s{%s} " INT64_FORMAT "\n", name, label, value);
}

void add_gauges(StringInfo out, const Moment& moment) {
    constexpr std::int64_t kMegabyte = 1024 * 1024;
    add_gauge(out, {"walrus_enabled", "1 if max_wal_size is watched.", settings().enable ? 1 : 0});
    add_gauge(out, {"walrus_worker_running", "1 if the background worker runs.",
                    moment.standing.worker_pid != 0 ? 1 : 0});
    add_gauge(out, {"walrus_max_wal_size_bytes", "max_wal_size in force.", current_size() * kMegabyte});
    add_gauge(out, {"walrus_max_wal_size_limit_bytes", "walrus.max.", settings().max_mb * kMegabyte});
    add_gauge(out, {"walrus_quiet_intervals", "Quiet intervals in a row.", moment.standing.watch.quiet()});
    add_gauge(out, {"walrus_cooldown_remaining_seconds", "Seconds until the cooldown ends.",
                    cooldown_remaining(moment)});
    add_gauge(out, {"walrus_changes_this_hour", "Changes in the hour under way.", moment.governor.changes});
    add_gauge(out, {"walrus_hourly_limit_reached", "1 if the hour allows no further change.",
                    hourly_limit_reached(moment) ? 1 : 0});
    add_gauge(out, {"walrus_last_check_timestamp_seconds", "When the worker last looked.",
                    moment.standing.last_check});
    add_gauge(out, {"walrus_last_change_timestamp_seconds", "When max_wal_size last changed; 0: never.",
                    or_zero(moment.governor.last_change)});
    add_gauge(out, {"walrus_wal_interval_p95_bytes", "95th percentile of WAL per checkpoint_timeout.",
                    moment.standing.watch.rates().p95().value_or(0)});
}

void add_counters(StringInfo out, const Standing& standing) {
    const char* changes = "walrus_adjustments_total";
    add_head(out, changes, "counter", "Changes of max_wal_size since the server started.");
    add_labelled(out, changes, "action=\"increase\"", standing.increases);
    add_labelled(out, changes, "action=\"decrease\"", standing.decreases);
    const char* blocks = "walrus_blocked_total";
    add_head(out, blocks, "counter", "Changes that the governor blocked.");
    add_labelled(out, blocks, "by=\"cooldown\"", standing.blocked_by_cooldown);
    add_labelled(out, blocks, "by=\"hourly_limit\"", standing.blocked_by_cap);
    add_counter(out, {"walrus_dry_runs_total", "Changes that a dry run left out.", standing.dry_runs});
    add_counter(out, {"walrus_failures_total", "Changes that PostgreSQL refused.", standing.failures});
    CheckpointCount count;
    if (count_checkpoints(&count)) {
        add_counter(out, {"walrus_wal_checkpoints_total", "Checkpoints that the amount of WAL forced.",
                          count.wal_driven});
    }
}

}  // namespace

void describe_status(JsonText& json) {
    const Moment moment = read_moment();
    describe_settings(json);
    describe_watch(moment.standing, json);
    describe_governor(moment, json);
}

const char* metrics_text() {
    const Moment moment = read_moment();
    StringInfoData out;
    initStringInfo(&out);
    add_gauges(&out, moment);
    add_counters(&out, moment.standing);
    return out.data;
}

}  // namespace sluice::walrus
