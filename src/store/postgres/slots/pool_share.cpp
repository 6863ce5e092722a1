#include "store/postgres/slots/pool_share.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace sluice::postgres {
namespace {

// Those that were planned come first: a group with several caps may leave windows with room for some of it in
// front of the one that another needs, and a group of all or none needs every one. The others stand in for
// those that are held.
constexpr Statement kLockWindows{
    "lock_windows",
    "select sluice.to_ms(w.wndw_strt_ts), w.slot_ct, w.cells from rl_wndw_ct w"
    " where w.pool_nm = $1 and w.slot_ct <= $3"
    " and w.wndw_strt_ts = any (array(select sluice.from_ms(ms) from unnest($2::bigint[]) as ms))"
    " order by sluice.to_ms(w.wndw_strt_ts) not in (select ms from unnest($5::bigint[]) as ms), "
    "w.wndw_strt_ts"
    " limit $4 for update skip locked"};
constexpr Statement kSeeWindows{
    "see_windows",
    "select sluice.to_ms(w.wndw_strt_ts), w.slot_ct from rl_wndw_ct w where w.pool_nm = $1"
    " and w.wndw_strt_ts = any (array(select sluice.from_ms(ms) from unnest($2::bigint[]) as ms))"};
constexpr WindowIndex kAhead = 100;

// What a window may hold at most for one of these to fit.
Places most_room(std::span<const PlacedAsk> asks) {
    Places room = 0;
    for (const auto& [policy, ask] : asks) {
        room = std::max(room, policy.max_per_window - ask.weight);
    }
    return room;
}

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

std::map<WindowIndex, WindowCells> cells_in(const Rows& rows, WindowGrid grid) {
    std::map<WindowIndex, WindowCells> cells;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto known = rows.is_null(i, 2) ? std::nullopt : read_cells(rows.text(i, 2));
        if (known) {
            cells.emplace(grid.index_of(Instant{Duration{rows.number(i, 0).value_or(0)}}), std::move(*known));
        }
    }
    return cells;
}

ArrayText starts_of(std::span<const WindowIndex> windows, WindowGrid grid) {
    ArrayText starts;
    for (const WindowIndex window : windows) {
        starts.add(to_ms(grid.start_of(window)));
    }
    return starts;
}

}  // namespace

class PoolShare::LockedWindows final : public WindowCounts {
public:
    LockedWindows(const std::map<WindowIndex, Places>& counts,
                  const std::map<WindowIndex, WindowCells>& cells, PassedWindows& passed)
        : counts_{counts}, cells_{cells}, passed_{passed} {}

    Places held(WindowIndex window) override {
        const auto found = counts_.find(window);
        return found == counts_.end() ? std::numeric_limits<Places>::max() : found->second;
    }
    std::optional<WindowIndex> earliest_holding_at_most(WindowRange range, Places held_max) override {
        auto it = counts_.lower_bound(passed_.skip(range.first, held_max));
        while (it != counts_.end() && it->first <= range.last && it->second > held_max) {
            ++it;
        }
        const bool found = it != counts_.end() && it->first <= range.last;
        passed_.note(range.first, found ? it->first : range.last + 1, held_max);
        return found ? std::optional{it->first} : std::nullopt;
    }
    std::optional<WindowCells> cells(WindowIndex window, Places count) override {
        if (held(window) == 0) {
            return WindowCells{count};
        }
        const auto known = cells_.find(window);
        const bool fits = known != cells_.end() && known->second.count() == count;
        return fits ? std::optional{known->second} : std::nullopt;
    }

private:
    const std::map<WindowIndex, Places>& counts_;
    const std::map<WindowIndex, WindowCells>& cells_;
    PassedWindows& passed_;
};

void PoolShare::add(Candidate& candidate) {
    window_size_ = candidate.config->terms.window_size;
    candidates_.push_back(&candidate);
    asks_.push_back({candidate.config->policy(), candidate.ask});
}

Result<void, StoreError> PoolShare::claim(WindowMirror& mirror, const PoolName& pool,
                                          const BusyWindows& avoided) {
    static const std::set<WindowIndex> kNone;
    const auto busy = avoided.find(pool);
    auto claim = mirror.claim(pool, asks_, busy == avoided.end() ? kNone : busy->second);
    if (!claim) {
        return Unexpected{claim.error()};
    }
    for (const std::size_t number : claim->unplaced) {
        candidates_[number]->believed_full = true;
    }
    claim_.emplace(std::move(*claim));
    return {};
}

std::optional<WindowIndex> PoolShare::beyond() const {
    const auto& wanted = claim_->spare.empty() ? claim_->planned : claim_->spare;
    return wanted.empty() ? std::nullopt : std::optional{wanted.back() + kAhead};
}

void PoolShare::queue_reading(Connection& connection, const PoolName& pool) const {
    const WindowGrid grid{window_size_};
    std::vector<WindowIndex> wanted = claim_->planned;
    wanted.insert(wanted.end(), claim_->spare.begin(), claim_->spare.end());
    const ArrayText tried = starts_of(wanted, grid);
    if (const auto ahead = beyond()) {
        wanted.push_back(*ahead);
    }
    // Seen first: a counter that another transaction makes in between must not look like one that it holds.
    connection.queue(kSeeWindows, Parameters{}.add(pool.text()).add(starts_of(wanted, grid)));
    connection.queue(kLockWindows, Parameters{}
                                       .add(pool.text())
                                       .add(tried)
                                       .add(std::int64_t{most_room(asks_)})
                                       .add(static_cast<std::int64_t>(claim_->planned.size()))
                                       .add(starts_of(claim_->planned, grid)));
}

void PoolShare::read(const Rows& seen, const Rows& locked) {
    const WindowGrid grid{window_size_};
    locked_ = counts_in(locked, grid);
    cells_ = cells_in(locked, grid);
    seen_ = counts_in(seen, grid);
    const auto ahead = beyond();
    is_beyond_missing_ = ahead && seen_.erase(*ahead) == 0;
    seen_.insert(locked_.begin(), locked_.end());
    sort_out_unlocked();
}

void PoolShare::tell(const PoolName& pool, AttemptReport& report) const {
    tell_missing(pool, report);
    if (has_left_ && !held_.empty()) {
        report.busy[pool].insert(held_.begin(), held_.end());
    }
}

void PoolShare::tell_missing(const PoolName& pool, AttemptReport& report) const {
    const WindowGrid grid{window_size_};
    for (const WindowIndex window : claim_->planned) {
        if (!seen_.contains(window)) {
            report.missing[pool].push_back(to_ms(grid.start_of(window)));
            report.needs_missing = true;
        } else if (!locked_.contains(window)) {
            report.held_by_others = grid.start_of(window);
        }
    }
    for (const WindowIndex window : claim_->spare) {
        if (!seen_.contains(window)) {
            report.missing[pool].push_back(to_ms(grid.start_of(window)));
        }
    }
    if (is_beyond_missing_) {
        report.missing[pool].push_back(to_ms(grid.start_of(*beyond())));
    }
}

void PoolShare::sort_out_unlocked() {
    const auto& [planned, spare] = std::tie(claim_->planned, claim_->spare);
    // Spare windows are tried in their order, until there are enough.
    const bool all_tried = locked_.size() < planned.size();
    const auto last = std::ranges::find_if(spare.rbegin(), spare.rend(),
                                           [&](WindowIndex window) { return locked_.contains(window); });
    const Places room = most_room(asks_);
    const auto sort_out = [&](WindowIndex window, bool tried) {
        const auto seen = seen_.find(window);
        if (seen == seen_.end()) {
            open_.emplace(window, 0);
        } else if (!tried) {
            open_.insert(*seen);
        } else if (seen->second <= room && !locked_.contains(window)) {
            held_.push_back(window);
        }
    };
    for (const WindowIndex window : planned) {
        sort_out(window, true);
    }
    for (const WindowIndex window : spare) {
        sort_out(window, all_tried || (last != spare.rend() && window <= *last));
    }
}

std::optional<Placement> PoolShare::place(Candidate& candidate, Random& random) {
    const SlotPolicy policy = candidate.config->policy();
    const SlotAsk& ask = candidate.ask;
    while (candidates_[next_] != &candidate) {
        ++next_;
    }
    if (is_stalled_) {
        return std::nullopt;
    }
    // Without a plan all within reach was full, by this group's own plan, too; some of that did not come.
    const auto plan = claim_->plan[next_];
    const WindowIndex known_until =
        plan ? std::max(*plan, claim_->horizon) : std::numeric_limits<WindowIndex>::max();
    LockedWindows windows{locked_, cells_, passed_locked_};
    auto placement = sluice::place(policy, ask, windows, random);
    static const std::map<WindowIndex, WindowCells> kUnknown;
    LockedWindows unsure{open_, kUnknown, passed_open_};
    const auto before = find_window(policy, ask, unsure);
    const bool jumps =
        placement && ((before && *before < placement->window) || placement->window > known_until);
    is_stalled_ = jumps || (!placement && before);
    has_left_ = has_left_ || is_stalled_ || !placement;
    if (is_stalled_ || !placement) {
        // The counts may have room where no cell is free before max_delay ends, which the mirror never
        // learns.
        if (!is_stalled_ && policy.spread == Spread::Stratified && ask.max_delay) {
            candidate.believed_full = true;
        }
        return std::nullopt;
    }
    auto cells =
        placement->cells.empty() ? std::nullopt : windows.cells(placement->window, policy.max_per_window);
    cells_.erase(placement->window);
    if (cells) {
        cells->take(placement->cells);
        cells_.emplace(placement->window, std::move(*cells));
    }
    locked_.at(placement->window) += ask.weight;
    has_placed_ = true;
    return placement;
}

bool PoolShare::found_all_full() const {
    const auto was_seen = [this](WindowIndex window) { return seen_.contains(window); };
    return !has_placed_ && !is_stalled_ && !claim_->planned.empty() &&
           std::ranges::all_of(claim_->planned, was_seen) && std::ranges::all_of(claim_->spare, was_seen) &&
           held_.empty();
}

void PoolShare::teach(WindowMirror& mirror) const {
    if (found_all_full()) {
        return mirror.doubt(*claim_);
    }
    auto counts = locked_;
    counts.insert(seen_.begin(), seen_.end());  // Where it is not locked.
    mirror.learn(*claim_, counts);
}

}  // namespace sluice::postgres
