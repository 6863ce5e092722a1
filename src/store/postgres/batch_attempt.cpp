#include "store/postgres/batch_attempt.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "app/slots/slot_errors.hpp"

namespace sluice::postgres {
namespace {

constexpr Statement kBegin{"begin", "begin isolation level read committed"};
constexpr Statement kCommit{"commit", "commit"};
// A config change takes this lock exclusively: what is read behind it holds until the end.
constexpr Statement kEnterPools{
    "enter_pools",
    "select pg_advisory_xact_lock_shared(7301, hashtext(pool)) from unnest($1::text[]) as pool"};
constexpr Statement kActiveConfigs{
    "active_configs",
    "select c.config_no from rl_event_wndw_config c where c.wndw_config_nm = any ($1) and c.act_in = 1"};
constexpr Statement kFindSlots{"find_slots",
                               "select " SLUICE_SLOT_COLUMNS
                               " from rl_event_slot_dtl d"
                               " join rl_event_wndw_config c on c.rl_wndw_config_id = d.rl_wndw_config_id"
                               " where d.event_id = any ($1)"};
// Those that were planned come first: a group with several caps may leave windows with room for some of it in
// front of the one that another needs, and a group of all or none needs every one. The others stand in for
// those that are held.
constexpr Statement kLockWindows{
    "lock_windows",
    "select sluice.to_ms(w.wndw_strt_ts), w.slot_ct from rl_wndw_ct w"
    " where w.pool_nm = $1 and w.slot_ct <= $3"
    " and w.wndw_strt_ts = any (array(select sluice.from_ms(ms) from unnest($2::bigint[]) as ms))"
    " order by sluice.to_ms(w.wndw_strt_ts) <> all ($5::bigint[]), w.wndw_strt_ts"
    " limit $4 for update skip locked"};
constexpr Statement kSeeWindows{
    "see_windows",
    "select sluice.to_ms(w.wndw_strt_ts), w.slot_ct from rl_wndw_ct w where w.pool_nm = $1"
    " and w.wndw_strt_ts = any (array(select sluice.from_ms(ms) from unnest($2::bigint[]) as ms))"};
constexpr Statement kStoreSlots{
    "store_slots", "select " SLUICE_SLOT_COLUMNS
                   " from sluice.store_slots(sluice.from_ms($1), $2, $3, $4, $5, $6, $7, $8, $9) d"
                   " join rl_event_wndw_config c on c.rl_wndw_config_id = d.rl_wndw_config_id"};
constexpr std::size_t kStatementsPerGroup = 4;  // Before those of each pool.

// What a window may hold at most for one of these to fit.
Places most_room(std::span<const PlacedAsk> asks) {
    Places room = 0;
    for (const auto& [policy, ask] : asks) {
        room = std::max(room, policy.max_per_window - ask.weight);
    }
    return room;
}

Failure damaged(const char* what) { return {"XX001", std::string{"a row of "} + what + " is damaged"}; }

std::map<WindowIndex, Places> counts_in(const Rows& rows, WindowGrid grid) {
    std::map<WindowIndex, Places> counts;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto start = rows.number(i, 0);
        const auto held = rows.number(i, 1);
        if (start && held) {
            counts.emplace(grid.index_of(Instant{Duration{*start}}), static_cast<Places>(*held));
        }
    }
    return counts;
}

}  // namespace

class BatchAttempt::LockedWindows final : public WindowCounts {
public:
    explicit LockedWindows(const std::map<WindowIndex, Places>& counts) : counts_{counts} {}

    Places held(WindowIndex window) override {
        const auto found = counts_.find(window);
        return found == counts_.end() ? std::numeric_limits<Places>::max() : found->second;
    }
    std::optional<WindowIndex> earliest_holding_at_most(WindowRange range, Places held_max) override {
        for (auto it = counts_.lower_bound(range.first); it != counts_.end() && it->first <= range.last;
             ++it) {
            if (it->second <= held_max) {
                return it->first;
            }
        }
        return std::nullopt;
    }

private:
    const std::map<WindowIndex, Places>& counts_;
};

Result<BatchAttempt::Report, Failure> BatchAttempt::run(Connection& connection) {
    Report report;
    if (const auto claimed = claim_windows(); !claimed) {
        return Unexpected{claimed.error()};
    }
    queue_reading(connection);
    const auto rows = connection.flush();
    if (!rows) {
        return Unexpected{rows.error()};
    }
    if (!configs_hold((*rows)[2])) {
        report.configs_changed = true;
        return report;
    }
    if (const auto answered = answer_known((*rows)[3]); !answered) {
        return Unexpected{answered.error()};
    }
    std::size_t next = kStatementsPerGroup;
    for (auto& [pool, share] : shares_) {
        read_windows(share, (*rows)[next], (*rows)[next + 1]);
        look_for_missing(pool, share, report);
        look_for_held(pool, share, report);
        look_for_open(share);
        next += 2;
    }
    place_new();
    const bool stores =
        !placed_.empty() && (setting_.completeness == Completeness::AsManyAsFit || complete());
    if (stores) {
        if (const auto stored = store(connection); !stored) {
            std::ranges::for_each(placed_, [](Candidate* candidate) { candidate->outcome.reset(); });
            return Unexpected{stored.error()};
        }
    } else {
        // What was planned is in no window: the mirror must not learn it.
        std::ranges::for_each(shares_, [](auto& share) { share.second.locked.clear(); });
    }
    teach_mirror();
    return report;
}

Result<void, Failure> BatchAttempt::claim_windows() {
    static const std::set<WindowIndex> kNone;
    for (Candidate* candidate : group_) {
        const auto& ask = candidate->command->ask;
        if (candidate->config == nullptr || ask.weight > candidate->config->terms.max_per_window) {
            continue;
        }
        PoolShare& share = shares_[candidate->config->terms.pool];
        share.window_size = candidate->config->terms.window_size;
        share.candidates.push_back(candidate);
        share.asks.push_back({candidate->config->policy(), ask});
    }
    for (auto& [pool, share] : shares_) {
        const auto busy = setting_.avoid.find(pool);
        auto claim =
            setting_.mirror.claim(pool, share.asks, busy == setting_.avoid.end() ? kNone : busy->second);
        if (!claim) {
            return Unexpected{Failure{"08006", claim.error().what, true}};
        }
        for (const std::size_t number : claim->unplaced) {
            share.candidates[number]->believed_full = true;
        }
        share.claim.emplace(std::move(*claim));
    }
    return {};
}

void BatchAttempt::queue_reading(Connection& connection) const {
    ArrayText pools;
    std::set<std::string_view> configs;
    ArrayText events;
    for (const auto& [pool, share] : shares_) {
        pools.add(std::string_view{pool.text()});  // Ascending, as every transaction takes them.
    }
    for (const Candidate* candidate : group_) {
        configs.insert(candidate->command->config_name.text());
        events.add(std::string_view{candidate->command->event_id.text()});
    }
    ArrayText names;
    for (const std::string_view name : configs) {
        names.add(name);
    }
    connection.queue(kBegin);
    connection.queue(kEnterPools, Parameters{}.add(pools));
    connection.queue(kActiveConfigs, Parameters{}.add(names));
    connection.queue(kFindSlots, Parameters{}.add(events));
    for (const auto& [pool, share] : shares_) {
        const WindowGrid grid{share.window_size};
        ArrayText windows;
        ArrayText planned;
        for (const WindowIndex window : share.claim->planned) {
            windows.add(to_ms(grid.start_of(window)));
            planned.add(to_ms(grid.start_of(window)));
        }
        for (const WindowIndex window : share.claim->spare) {
            windows.add(to_ms(grid.start_of(window)));
        }
        // Seen first: a counter that another transaction makes in between must not look like one that it
        // holds.
        connection.queue(kSeeWindows, Parameters{}.add(pool.text()).add(windows));
        connection.queue(kLockWindows, Parameters{}
                                           .add(pool.text())
                                           .add(windows)
                                           .add(std::int64_t{most_room(share.asks)})
                                           .add(static_cast<std::int64_t>(share.claim->planned.size()))
                                           .add(planned));
    }
}

bool BatchAttempt::configs_hold(const Rows& active) const {
    std::set<std::int64_t> numbers;
    for (std::size_t i = 0; i < active.size(); ++i) {
        numbers.insert(active.number(i, 0).value_or(0));
    }
    std::set<std::int64_t> assumed;
    for (const Candidate* candidate : group_) {
        if (candidate->config != nullptr) {
            assumed.insert(static_cast<std::int64_t>(candidate->config->id));
        }
    }
    // Equal, so that a config that was taken to be missing and now exists is noticed too.
    return numbers == assumed;
}

Result<void, Failure> BatchAttempt::answer_known(const Rows& slots) {
    std::map<std::string, StoredSlot, std::less<>> known;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        auto slot = read_slot(slots, i);
        if (!slot) {
            return Unexpected{damaged("rl_event_slot_dtl")};
        }
        std::string id = slot->slot.event_id.text();
        known.emplace(std::move(id), std::move(*slot));
    }
    for (Candidate* candidate : group_) {
        const auto& command = *candidate->command;
        if (const auto found = known.find(command.event_id.text()); found != known.end()) {
            const auto& [slot, config_name] = found->second;
            candidate->outcome = sluice::answer_known(slot, config_name, command, setting_.bodies);
        } else if (candidate->config == nullptr) {
            candidate->outcome = SlotOutcome{Unexpected{unknown_config(command.config_name)}};
        } else if (command.ask.weight > candidate->config->terms.max_per_window) {
            candidate->outcome = SlotOutcome{Unexpected{weight_above_cap(*candidate->config)}};
        }
    }
    return {};
}

void BatchAttempt::read_windows(PoolShare& share, const Rows& seen, const Rows& locked) {
    const WindowGrid grid{share.window_size};
    share.locked = counts_in(locked, grid);
    share.seen = counts_in(seen, grid);
    share.seen.insert(share.locked.begin(), share.locked.end());
}

void BatchAttempt::look_for_missing(const PoolName& pool, const PoolShare& share, Report& report) const {
    const WindowGrid grid{share.window_size};
    for (const WindowIndex window : share.claim->planned) {
        if (!share.seen.contains(window)) {
            report.missing[pool].push_back(to_ms(grid.start_of(window)));
            report.needs_missing = true;
        } else if (!share.locked.contains(window)) {
            report.held_by_others = grid.start_of(window);
        }
    }
    for (const WindowIndex window : share.claim->spare) {
        if (!share.seen.contains(window)) {
            report.missing[pool].push_back(to_ms(grid.start_of(window)));
        }
    }
}

// With fewer locks than asked for, every other window with room was held by somebody.
void BatchAttempt::look_for_held(const PoolName& pool, const PoolShare& share, Report& report) {
    if (share.locked.size() >= share.claim->planned.size()) {
        return;
    }
    const Places room = most_room(share.asks);
    for (const auto& [window, places] : share.seen) {
        if (places <= room && !share.locked.contains(window)) {
            report.busy[pool].insert(window);
        }
    }
}

void BatchAttempt::look_for_open(PoolShare& share) {
    const auto& [planned, spare] = std::tie(share.claim->planned, share.claim->spare);
    for (const WindowIndex window : planned) {
        if (!share.seen.contains(window)) {
            share.open.emplace(window, 0);
        }
    }
    // Spare windows are tried in their order, until there are enough.
    const bool all_tried = share.locked.size() < planned.size();
    const auto last = std::ranges::find_if(spare.rbegin(), spare.rend(),
                                           [&](WindowIndex window) { return share.locked.contains(window); });
    for (const WindowIndex window : spare) {
        const auto seen = share.seen.find(window);
        const bool tried = all_tried || (last != spare.rend() && window <= *last);
        if (seen == share.seen.end()) {
            share.open.emplace(window, 0);
        } else if (!tried) {
            share.open.insert(*seen);
        }
    }
}

// The place of one candidate among the locked windows, if no other may lie before it.
std::optional<Placement> BatchAttempt::place_one(const Candidate& candidate, PoolShare& share) {
    const SlotPolicy policy = candidate.config->policy();
    const SlotAsk& ask = candidate.command->ask;
    while (share.candidates[share.next] != &candidate) {
        ++share.next;
    }
    if (share.is_stalled) {
        return std::nullopt;
    }
    // Without a plan all within reach was full, by this group's own plan, too; some of that did not come.
    const auto plan = share.claim->plan[share.next];
    const WindowIndex known_until =
        plan ? std::max(*plan, share.claim->horizon) : std::numeric_limits<WindowIndex>::max();
    LockedWindows windows{share.locked};
    auto placement = place(policy, ask, windows, setting_.random);
    LockedWindows unsure{share.open};
    const auto before = find_window(policy, ask, unsure);
    const bool jumps =
        placement && ((before && *before < placement->window) || placement->window > known_until);
    share.is_stalled = jumps || (!placement && before);
    return share.is_stalled ? std::nullopt : placement;
}

void BatchAttempt::place_new() {
    for (Candidate* candidate : group_) {
        if (candidate->outcome) {
            continue;
        }
        const SlotPolicy policy = candidate->config->policy();
        const AssignSlot& command = *candidate->command;
        PoolShare& share = shares_.at(candidate->config->terms.pool);
        const auto placement = place_one(*candidate, share);
        if (!placement) {
            continue;
        }
        share.locked.at(placement->window) += command.ask.weight;
        candidate->outcome = SlotOutcome{
            Granted{Slot{command.event_id, candidate->config->id, command.ask.requested,
                         policy.grid.start_of(placement->window), placement->scheduled, command.ask.weight,
                         command.ask.max_delay, SlotState::Assigned, 0, setting_.now},
                    false, placement->window - policy.grid.index_of(command.ask.requested)}};
        placed_.push_back(candidate);
    }
}

bool BatchAttempt::complete() const {
    return std::ranges::all_of(group_, [](const Candidate* candidate) {
        return candidate->outcome && candidate->outcome->has_value();
    });
}

Result<void, Failure> BatchAttempt::store(Connection& connection) {
    // Every transaction takes events in this order.
    std::ranges::sort(placed_, {}, [](const Candidate* candidate) -> const EventId& {
        return candidate->command->event_id;
    });
    ArrayText events;
    ArrayText pools;
    ArrayText configs;
    ArrayText requested;
    ArrayText windows;
    ArrayText scheduled;
    ArrayText weights;
    ArrayText delays;
    for (const Candidate* candidate : placed_) {
        const Slot& slot = (**candidate->outcome).slot;
        events.add(std::string_view{slot.event_id.text()});
        pools.add(std::string_view{candidate->config->terms.pool.text()});
        configs.add(std::string_view{config_id_text(slot.config_id)});
        requested.add(to_ms(slot.requested));
        windows.add(to_ms(slot.window_start));
        scheduled.add(to_ms(slot.scheduled));
        weights.add(std::int64_t{slot.weight});
        slot.max_delay ? delays.add(slot.max_delay->count()) : delays.add_null();
    }
    connection.queue(kStoreSlots, Parameters{}
                                      .add(to_ms(setting_.now))
                                      .add(events)
                                      .add(pools)
                                      .add(configs)
                                      .add(requested)
                                      .add(windows)
                                      .add(scheduled)
                                      .add(weights)
                                      .add(delays));
    connection.queue(kCommit);
    const auto rows = connection.flush();
    if (!rows) {
        return Unexpected{rows.error()};
    }
    return accept(rows->front());
}

// Nothing: all were new. Otherwise another transaction was faster with some, and these rows are the truth.
Result<void, Failure> BatchAttempt::accept(const Rows& stored) {
    if (stored.empty()) {
        return {};
    }
    std::map<std::string, Granted, std::less<>> planned;
    for (Candidate* candidate : placed_) {
        planned.emplace(candidate->command->event_id.text(), **candidate->outcome);
        auto& locked = shares_.at(candidate->config->terms.pool).locked;
        locked.erase(WindowGrid{candidate->config->terms.window_size}.index_of(
            (**candidate->outcome).slot.window_start));  // Not known any more: some were not counted.
    }
    if (const auto answered = answer_known(stored); !answered) {
        return Unexpected{answered.error()};
    }
    for (Candidate* candidate : placed_) {
        const Granted& own = planned.at(candidate->command->event_id.text());
        if (candidate->outcome->has_value() && (**candidate->outcome).slot == own.slot) {
            candidate->outcome = SlotOutcome{own};
        }
    }
    return {};
}

void BatchAttempt::teach_mirror() {
    for (const auto& [pool, share] : shares_) {
        for (const auto& [window, places] : share.seen) {
            const auto locked = share.locked.find(window);
            setting_.mirror.learn(pool, window, locked == share.locked.end() ? places : locked->second);
        }
    }
}

}  // namespace sluice::postgres
