#include "store/postgres/slots/batch_assigner.hpp"

#include <algorithm>
#include <unordered_map>

#include "app/slots/slot_errors.hpp"
#include "store/postgres/client/retry_pause.hpp"
#include "store/postgres/slots/candidate_group.hpp"
#include "store/postgres/slots/held_search.hpp"
#include "store/postgres/slots/store_trouble.hpp"

namespace sluice::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using SteadyTime = steady_clock::time_point;

constexpr milliseconds kPatience{2000};  // For windows that others hold, and for a server that is away.
constexpr int kInVainMax = 3;  // Attempts of a group of all or none, until it starts with nothing believed.
constexpr std::chrono::microseconds kWork{
    200};  // For each event of a group of all or none: it is no waiting.

// What is told to those whose patience is over.
SlotError last_word(const std::optional<Failure>& failure) {
    const bool away = failure && !failure->contended();
    return away ? store_unavailable() : contended();
}

bool same_body(const AssignSlot& one, const AssignSlot& other) {
    if (!one.is_readable || !other.is_readable) {
        return one.is_readable == other.is_readable;
    }
    return one.config_name == other.config_name && one.ask.requested == other.ask.requested &&
           one.ask.weight == other.ask.weight && one.ask.max_delay == other.ask.max_delay &&
           (one.work == nullptr || other.work == nullptr ? one.work == other.work
                                                         : is_same_work(*one.work, *other.work));
}

}  // namespace

// How long a group waits for what others hold.
class BatchAssigner::Patience {
public:
    explicit Patience(steady_clock::duration length) : end_{steady_clock::now() + length} {}

    [[nodiscard]] SteadyTime end() const { return end_; }
    [[nodiscard]] bool is_over() const { return steady_clock::now() >= end_; }

    // The first plan of a node may have to read a million windows: that is work, and no waiting. Later ones
    // count, or there would be no end where much is read again and again.
    void planned(steady_clock::duration took) {
        end_ += has_planned_ ? steady_clock::duration{0} : took;
        has_planned_ = true;
    }

private:
    SteadyTime end_;
    bool has_planned_ = false;
};

std::vector<SlotOutcome> BatchAssigner::assign_each(std::span<const AssignSlot* const> events) {
    std::vector<SlotOutcome> outcomes;
    outcomes.reserve(events.size());
    while (outcomes.size() < events.size()) {
        assign_some(events.subspan(outcomes.size()), outcomes);
    }
    return outcomes;
}

// Those up to the first that asks for something else than an equal event before it: by the order of the batch
// it comes before all that are behind it.
void BatchAssigner::assign_some(std::span<const AssignSlot* const> events,
                                std::vector<SlotOutcome>& outcomes) {
    std::vector<Candidate> candidates;
    std::vector<std::size_t> candidate_of;  // For each event.
    std::unordered_map<std::string_view, std::size_t> first;
    for (const AssignSlot* event : events) {
        const auto [known, is_first] = first.try_emplace(event->event_id.text(), candidates.size());
        if (is_first) {
            candidates.push_back({event});
        } else if (!same_body(*event, *candidates[known->second].command)) {
            break;
        }
        candidate_of.push_back(known->second);
    }
    std::vector<Candidate*> group = pointers_to(candidates);
    Patience patience{kPatience};
    decide(group, patience);
    for (std::size_t i = 0; i < candidate_of.size(); ++i) {
        const Candidate& candidate = candidates[candidate_of[i]];
        const bool repeats = *candidate.outcome && candidate.command != events[i];
        outcomes.push_back(repeats ? SlotOutcome{Granted{(**candidate.outcome).slot, true}}
                                   : *candidate.outcome);
    }
}

AllOutcome BatchAssigner::assign_all(std::span<const AssignSlot> events) {
    std::vector<Candidate> candidates;
    std::unordered_map<std::string_view, std::size_t> first;  // The candidate of each event.
    for (const AssignSlot& event : events) {
        const auto [known, is_first] = first.try_emplace(event.event_id.text(), candidates.size());
        if (is_first) {
            candidates.push_back({&event});
        } else {
            candidates[known->second].repeats.push_back(&event);
        }
    }
    std::vector<Candidate*> group = pointers_to(candidates);
    Patience patience{kPatience + kWork * group.size()};
    decide_all(group, patience);
    if (const Candidate* refused = first_refused(group); refused != nullptr) {
        return Unexpected{AllRefused{refused->command->event_id, refused->outcome->error()}};
    }
    std::vector<Granted> granted;
    granted.reserve(events.size());
    for (const AssignSlot& event : events) {
        const Candidate& candidate = candidates[first.at(event.event_id.text())];
        const Granted& given = **candidate.outcome;
        granted.push_back(candidate.command == &event ? given : Granted{given.slot, true});
    }
    return granted;
}

void BatchAssigner::decide(Group group, Patience& patience) {
    const auto held = std::stable_partition(group.begin(), group.end(), [this](const Candidate* one) {
        return !parts_.held.contains(one->command->event_id);
    });
    auto failure = decide_together({group.begin(), held}, patience);
    if (held != group.end() && !patience.is_over()) {
        // Those were waited for before: one look is enough.
        failure = decide_free({held, group.end()}, patience);
        refuse_rest({held, group.end()}, last_word(failure));
    }
    // What is left is held since lately, and may be let go soon.
    for (auto rest = undecided(group); !rest.empty(); rest = undecided(group)) {
        if (patience.is_over()) {
            report(failure);
            refuse_rest(group, last_word(failure));
            return;
        }
        failure = decide_free(rest, patience);
        pause_before_retry();
    }
}

std::optional<Failure> BatchAssigner::decide_free(Group group, Patience& patience) {
    const auto free = part_held(group, patience);
    if (!free) {
        return free.error();
    }
    for (const Candidate* one : group.subspan(*free)) {
        parts_.held.note(one->command->event_id);
    }
    return decide_together(group.first(*free), patience);
}

std::optional<Failure> BatchAssigner::decide_together(Group group, Patience& patience) {
    std::optional<Failure> failure;
    Search search{Completeness::AsManyAsFit, patience, kHeldWait};
    for (auto rest = undecided(group); !rest.empty() && !patience.is_over();) {
        const auto tried = attempt(rest, search);
        failure = tried ? std::nullopt : std::optional{tried.error()};
        if (tried && *tried == Next::FindHeld) {
            const auto free = part_held(rest, patience);
            if (!free) {
                return free.error();
            }
            rest.resize(*free);
            continue;
        }
        const std::size_t before = rest.size();
        rest = undecided(rest);
        if (rest.size() == before && !(tried && *tried == Next::LookFurtherOn)) {
            search.avoid.clear();
            pause_before_retry();
        }
    }
    return failure;
}

Result<std::size_t, Failure> BatchAssigner::part_held(Group group, const Patience& patience) {
    const auto lease = parts_.pool.take(patience.end());
    if (!lease) {
        return Unexpected{lease.error()};
    }
    return postgres::part_held(**lease, group);
}

void BatchAssigner::decide_all(Group group, Patience& patience) {
    std::optional<Failure> failure;
    Search search{Completeness::AllOrNone, patience, kPatience};
    int in_vain = 0;
    do {
        for (Candidate* candidate : group) {
            candidate->outcome.reset();
            candidate->refused = nullptr;
        }
        failure.reset();
        const auto tried = attempt(group, search);
        if (!tried) {
            failure = tried.error();
        }
        if (is_settled(group)) {
            return;
        }
        if (!(tried && *tried == Next::LookFurtherOn)) {
            // Where some of the group find room, the others relearn a window or two each time: behind a
            // backlog that another node has built that would take for ever. What others hold is passed over
            // meanwhile, or the group would run into them again each time it has learned something.
            if (++in_vain % kInVainMax == 0) {
                search.avoid.clear();
                forget_windows_of(undecided(group));
            }
            pause_before_retry();
        }
    } while (!patience.is_over());
    report(failure);
    refuse_rest(group, last_word(failure));
}

void BatchAssigner::forget_windows_of(std::span<Candidate* const> group) {
    for (const Candidate* candidate : group) {
        if (candidate->config != nullptr) {
            parts_.mirror.forget(candidate->config->terms.pool);
        }
    }
}

void BatchAssigner::report(const std::optional<Failure>& failure) const {
    // The loss of a connection was logged when it happened.
    if (failure && !failure->connection_lost && !failure->contended()) {
        parts_.world.log.write(LogLevel::Warn, kStoreComponent, failure->described());
    }
}

Result<BatchAssigner::Next, Failure> BatchAssigner::attempt(Group group, Search& search) {
    if (const auto resolved = resolve_configs(group); !resolved) {
        return Unexpected{resolved.error()};
    }
    Random random = fresh_random();
    std::optional<AttemptReport> report;
    {
        BatchAttempt one{{parts_.mirror, random, parts_.world.clock.now(), bodies_, search.completeness,
                          search.avoid, search.event_wait},
                         group};
        const auto lease = parts_.pool.take(search.patience.end());
        if (!lease) {
            return Unexpected{lease.error()};
        }
        auto run = one.run(**lease);
        if (!run) {
            if (run.error().connection_lost || run.error().outcome_unknown) {
                parts_.world.log.write(LogLevel::Warn, kStoreComponent, run.error().described());
            }
            return Unexpected{std::move(run).error()};
        }
        report = std::move(*run);
        search.patience.planned(report->planning);
    }  // The windows are free again before anything else is done.
    if (const auto followed = follow_up(group, *report); !followed) {
        return Unexpected{followed.error()};
    }
    if (report->event_held) {
        return Next::FindHeld;
    }
    if (report->configs_changed || report->knows_more) {
        return Next::TryAgain;  // With what is known now, more may fit.
    }
    if (const auto refused = refuse_exhausted(group, search.completeness); !refused) {
        return Unexpected{refused.error()};
    }
    Next next = Next::TryAgain;
    for (auto& [pool, windows] : report->busy) {
        search.avoid[pool].merge(windows);
        next = Next::LookFurtherOn;
    }
    return next;
}

Result<void, Failure> BatchAssigner::resolve_configs(Group group) {
    std::map<ConfigName, ConfigRef> resolved;
    for (Candidate* candidate : group) {
        candidate->believed_full = false;
        if (!candidate->command->is_readable) {
            continue;
        }
        const ConfigName& name = candidate->command->config_name;
        auto found = resolved.find(name);
        if (found == resolved.end()) {
            auto active = parts_.configs.active(name);
            if (!active) {
                return Unexpected{std::move(active).error()};
            }
            found = resolved.emplace(name, std::move(*active)).first;
        }
        candidate->config = found->second;
    }
    return resolve_asks(group);
}

Result<void, Failure> BatchAssigner::resolve_asks(Group group) {
    const bool needs_time = std::ranges::any_of(group, [](const Candidate* one) {
        return one->config != nullptr && one->config->terms.past == Past::Now;
    });
    const auto now = needs_time ? parts_.clock.now() : Result<Instant, Failure>{Instant{}};
    if (!now) {
        return Unexpected{now.error()};
    }
    for (Candidate* candidate : group) {
        if (candidate->config != nullptr) {
            candidate->ask = asked_at(candidate->config->policy(), candidate->command->ask, *now);
        }
    }
    return {};
}

Result<void, Failure> BatchAssigner::follow_up(Group group, AttemptReport& report) {
    if (report.configs_changed) {
        parts_.configs.flush();
    }
    if (report.held_by_others) {
        parts_.world.metrics.contended();
    }
    for (const auto& [pool, one] : furthest_placed(group)) {
        const WindowGrid grid = one->config->policy().grid;
        const WindowIndex window = grid.index_of((*one->outcome)->slot.window_start);
        parts_.provisioner.filled_up_to(pool, window, grid.size());
    }
    for (const auto& [pool, windows] : report.missing) {
        if (!report.needs_missing) {
            parts_.provisioner.provision_soon(pool, windows);
            continue;
        }
        const auto busy = parts_.provisioner.provision(pool, windows);
        if (!busy) {
            return Unexpected{busy.error()};
        }
        const auto grid = grid_of(group, pool);
        for (const std::int64_t start : *busy) {
            report.busy[pool].insert(grid.index_of(Instant{Duration{start}}));
        }
    }
    return {};
}

Result<void, Failure> BatchAssigner::refuse_exhausted(Group group, Completeness completeness) {
    const auto full = [](const Candidate* candidate) {
        return !candidate->outcome && candidate->believed_full;
    };
    if (std::ranges::none_of(group, full)) {
        return {};
    }
    std::map<PoolName, PoolWindows> fresh;
    Random random = fresh_random();
    for (Candidate* candidate : group) {
        const bool takes = completeness == Completeness::AllOrNone && is_new(*candidate);
        if (!takes && !full(candidate)) {
            continue;
        }
        const SlotPolicy policy = candidate->config->policy();
        const SlotAsk& ask = candidate->ask;
        const PoolName& pool = candidate->config->terms.pool;
        const Duration size = policy.grid.size();
        PoolWindows& windows =
            fresh.try_emplace(pool, parts_.source_of(pool, size), parts_.cells_of(pool, size)).first->second;
        const auto placement = place(policy, ask, windows, random);
        if (windows.failure()) {
            return Unexpected{Failure{kLost, windows.failure()->what, true}};
        }
        if (!placement) {
            candidate->decide(Unexpected{no_room(policy, ask)});
        } else if (takes) {
            if (full(candidate)) {
                // The mirror erred somewhere; where, these counts cannot tell, with what was taken above.
                parts_.mirror.forget(pool);
            }
            windows.take(policy, *placement, ask.weight);
        } else {
            parts_.mirror.learn_room(pool, policy.grid.start_of(placement->window),
                                     windows.held(placement->window));
        }
    }
    return {};
}

Random BatchAssigner::fresh_random() {
    const std::lock_guard lock{mutex_};
    return Random{seeds_.next()};
}

}  // namespace sluice::postgres
