#include "cycle.hpp"

#include <optional>

#include "boundary.hpp"
#include "history.hpp"
#include "json_text.hpp"
#include "max_wal_size.hpp"
#include "postgres_api.hpp"
#include "settings.hpp"
#include "standing.hpp"
#include "wording.hpp"

namespace sluice::walrus {
namespace {

struct Decision {
    WalReading reading;
    WalInterval interval;
    WalProposal proposal;
    std::int64_t p95 = 0;  // Bytes of WAL per checkpoint_timeout; 0: not measured.
};

bool shrinks(const Decision& decision) { return decision.proposal.action == WalAction::Decrease; }

HistoryRow row_of(const Decision& decision) {
    return {.action = action_word(decision.proposal.action),
            .old_size = decision.reading.size,
            .new_size = decision.proposal.target,
            .requested = decision.reading.count.requested,
            .reason = reason_text(decision.proposal)};
}

void record_row(const HistoryRow& row) {
    in_transaction("writing history", [&row] { write_history(row); });
}

// The members that explain how a size was arrived at.
void add_calculation(JsonText& json, const Decision& decision) {
    if (shrinks(decision)) {
        json.real("shrink_factor", settings().shrink_factor);
        json.number("quiet_intervals", decision.interval.quiet);
    } else if (decision.proposal.reason == WalReason::MeasuredRate) {
        json.number("wal_p95_bytes", decision.p95);
    } else {
        json.number("delta", decision.interval.forced);
        json.number("multiplier", decision.interval.forced + 1);
    }
    json.number("calculated_size_mb", decision.proposal.calculated);
    if (decision.proposal.action == WalAction::Capped) {
        json.number("walrus_max_mb", settings().max_mb);
    }
    json.text("counted", decision.reading.count.wal_heard ? "wal" : "requested");
}

void announce(const Decision& decision) {
    const WalProposal& proposal = decision.proposal;
    const auto elapsed = static_cast<long long>((decision.interval.elapsed_ms + 500) / 1000);
    if (!shrinks(decision)) {
        ereport(LOG, (errmsg("pg_walrus: detected %lld forced checkpoints over %lld seconds",
                             static_cast<long long>(decision.interval.forced), elapsed)));
    }
    if (proposal.action == WalAction::Capped) {
        ereport(WARNING, (errmsg("pg_walrus: requested size %lld MB exceeds maximum %lld MB, using maximum",
                                 static_cast<long long>(proposal.calculated),
                                 static_cast<long long>(proposal.target))));
    }
}

void report_block(const Decision& decision, const GovernorState& state, const GovernorRuling& ruling) {
    const char* subject = shrinks(decision) ? "shrink" : "adjustment";
    const bool cooldown = ruling.verdict == GovernorVerdict::Cooldown;
    if (cooldown) {
        ereport(LOG, (errmsg("pg_walrus: %s blocked - cooldown active (%lld seconds remaining)", subject,
                             static_cast<long long>(ruling.remaining))));
    } else {
        ereport(LOG, (errmsg("pg_walrus: %s blocked - hourly limit reached (%lld of %d)", subject,
                             static_cast<long long>(state.changes), settings().max_changes_per_hour)));
    }
    JsonText json;
    json.text("blocked_by", cooldown ? "cooldown" : "hourly_limit");
    if (cooldown) {
        json.number("cooldown_sec", settings().cooldown_sec);
        json.number("cooldown_remaining_sec", ruling.remaining);
        json.time("last_adjustment_time", state.last_change);
    } else {
        json.number("max_changes_per_hour", settings().max_changes_per_hour);
        json.number("changes_this_hour", state.changes);
        json.time("hour_window_start", state.window_start);
    }
    HistoryRow row = row_of(decision);
    row.action = "skipped";
    row.reason = block_text(ruling.verdict);
    row.metadata = json.finish();
    record_row(row);
}

void report_dry_run(const Decision& decision) {
    const char* reason = dry_run_text(decision.proposal);
    ereport(LOG, (errmsg("pg_walrus [DRY-RUN]: would change max_wal_size from %lld MB to %lld MB (%s)",
                         static_cast<long long>(decision.reading.size),
                         static_cast<long long>(decision.proposal.target), reason)));
    JsonText json;
    json.flag("dry_run", true);
    json.text("would_apply", action_word(decision.proposal.action));
    add_calculation(json, decision);
    HistoryRow row = row_of(decision);
    row.action = "dry_run";
    row.reason = reason;
    row.metadata = json.finish();
    record_row(row);
}

void apply(const Decision& decision) {
    const WalProposal& proposal = decision.proposal;
    ereport(LOG,
            (errmsg("pg_walrus: %s max_wal_size from %lld MB to %lld MB",
                    shrinks(decision) ? "shrinking" : "resizing",
                    static_cast<long long>(decision.reading.size), static_cast<long long>(proposal.target))));
    if (!in_transaction("ALTER SYSTEM", [&proposal] { write_size(proposal.target); })) {
        with_standing([](Standing& standing) { ++standing.failures; });
        ereport(WARNING, (errmsg("pg_walrus: ALTER SYSTEM failed, will retry in the next interval")));
        return;
    }
    // From here on the change stands: whatever fails below, it is counted and takes effect.
    count_change(!shrinks(decision));
    reload_configuration();
    JsonText json;
    add_calculation(json, decision);
    HistoryRow row = row_of(decision);
    row.metadata = json.finish();
    record_row(row);
    in_transaction("NOTIFY", [&row] { notify_change(row); });
}

// Asks the governor, of dry runs or of real ones. A dry run that is allowed is recorded at once; a real
// change is recorded when it has been made.
GovernorRuling rule(bool dry_run, GovernorState* settled) {
    return with_standing([dry_run, settled](Standing& standing) {
        const GovernorPolicy policy = governor_policy();
        const Ticks now = unix_seconds();
        *settled = settle(dry_run ? standing.shadow : standing.real, policy, now);
        const GovernorStep step = decide(*settled, policy, now);
        if (dry_run) {
            standing.shadow = step.next;
        }
        if (step.ruling.verdict == GovernorVerdict::Cooldown) {
            ++standing.blocked_by_cooldown;
        } else if (step.ruling.verdict != GovernorVerdict::Allowed) {
            ++standing.blocked_by_cap;
        } else if (dry_run) {
            ++standing.dry_runs;
            standing.watch.end_quiet();
        }
        return step.ruling;
    });
}

bool is_out_of_reach() {
    bool fixed = false;
    in_transaction("looking at max_wal_size", [&fixed] { fixed = is_fixed_by_command_line(); });
    static bool told = false;  // Once in the worker's life: nothing changes it but a restart.
    if (fixed && !told) {
        told = true;
        ereport(WARNING, (errmsg("pg_walrus: max_wal_size is set on the server's command line and cannot be"
                                 " changed by ALTER SYSTEM")));
    }
    return fixed;
}

void carry_out(const Decision& decision) {
    if (is_out_of_reach()) {
        return;
    }
    const bool dry_run = settings().dry_run;
    GovernorState settled;
    announce(decision);
    const GovernorRuling ruling = rule(dry_run, &settled);
    if (ruling.verdict != GovernorVerdict::Allowed) {
        report_block(decision, settled, ruling);
    } else if (dry_run) {
        report_dry_run(decision);
    } else {
        apply(decision);
    }
}

std::optional<WalInterval> close_interval(const WalReading& reading) {
    return with_standing([&reading](Standing& standing) -> std::optional<WalInterval> {
        standing.last_check = unix_seconds();
        if (!settings().dry_run) {
            standing.shadow = standing.real;
        }
        if (!settings().enable) {
            standing.watch.follow(reading);
            return std::nullopt;
        }
        return standing.watch.close(reading, watch_policy());
    });
}

}  // namespace

void run_cycle() {
    Decision decision{};
    if (!read_server(&decision.reading)) {
        return;
    }
    const auto interval = close_interval(decision.reading);
    if (!interval) {
        ereport(DEBUG1, (errmsg_internal("pg_walrus: took a baseline")));
        return;
    }
    decision.interval = *interval;
    decision.p95 = read_standing().watch.rates().p95().value_or(0);
    decision.proposal = propose(sizing_policy(), observation(decision.reading, *interval, decision.p95));
    if (decision.proposal.action == WalAction::None) {
        ereport(DEBUG1, (errmsg_internal("pg_walrus: no change: %s", reason_text(decision.proposal))));
        return;
    }
    carry_out(decision);
}

}  // namespace sluice::walrus
