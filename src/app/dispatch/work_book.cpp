#include "app/dispatch/work_book.hpp"

#include <algorithm>

#include "app/dispatch/work_steps.hpp"

namespace sluice {
namespace {

// What a pool has sent is kept for some windows, in case the clock steps back.
constexpr WindowIndex kWindowsKept = 8;
constexpr std::size_t kDroppedMax = 16;  // In one commit.
constexpr std::size_t kLanesMax = 100'000;
constexpr std::size_t kClaimedMax = 16'384;  // A few times what one process has under way; some 8 MB.

}  // namespace

Result<void, StoreError> WorkBook::load(WorkTables& tables) {
    auto loaded = tables.load();
    if (!loaded) {
        return Unexpected{std::move(loaded).error()};
    }
    dispatch_ = std::move(*loaded);
    sent_.clear();
    for (const SentRow& row : dispatch_.sent) {
        sent_.insert_or_assign({row.pool, row.window}, row);
    }
    dispatch_.sent.clear();
    starts_.clear();
    claimed_.clear();
    counts_.reset();
    terms_.reset();
    return {};
}

bool WorkBook::note(const WorkChanges& changes) {
    bool is_news = !changes.holds.empty() || !changes.rates.empty();
    for (const WorkChange& change : changes.works) {
        note_row(change.row);
        if (change.left) {
            note_lane(*change.left, -1);
        }
        if (const auto spot = spot_of(change.row.work)) {
            note_lane(*spot, +1);
            is_news = is_news || spot->lane.kind == LaneKind::Due || spot->lane.kind == LaneKind::Dead;
        }
    }
    for (const SentRow& row : changes.sent) {
        if (row.sent == 0) {
            sent_.erase({row.pool, row.window});
        } else {
            sent_.insert_or_assign({row.pool, row.window}, row);
        }
    }
    for (const HoldChange& change : changes.holds) {
        if (change.hold) {
            dispatch_.holds.insert_or_assign(change.subject, *change.hold);
        } else {
            dispatch_.holds.erase(change.subject);
        }
    }
    for (const RateChange& change : changes.rates) {
        if (change.rate) {
            dispatch_.rates.insert_or_assign(change.subject, *change.rate);
        } else {
            dispatch_.rates.erase(change.subject);
        }
    }
    for (const PermitChange& change : changes.permits) {
        if (change.lent) {
            dispatch_.permits.insert_or_assign(change.id, *change.lent);
        } else {
            dispatch_.permits.erase(change.id);
        }
    }
    if (!changes.holds.empty() || !changes.rates.empty()) {
        terms_.reset();
    }
    dispatch_.next_subject_line += changes.subject_lines.size();
    return is_news;
}

TermsRef WorkBook::terms(const ConfigBook& configs) {
    if (terms_ != nullptr) {
        return terms_;
    }
    DispatchTerms terms{dispatch_.holds, dispatch_.rates, {}};
    for (const ConfigVersion& config : configs.all_active()) {
        const DispatchDraft& dispatch = config.terms.dispatch;
        if (dispatch.rate) {
            const auto [gate, is_first] =
                terms.gates.try_emplace(Subject{SubjectKind::Pool, config.terms.pool.text()}, *dispatch.rate);
            gate->second = is_first ? *dispatch.rate : stricter(gate->second, *dispatch.rate);
        }
        if (dispatch.retries) {
            terms.schedules.insert_or_assign(config.terms.name, *dispatch.retries);
        }
    }
    terms_ = std::make_shared<const DispatchTerms>(std::move(terms));
    return terms_;
}

LanePoint WorkBook::start_of(const Lane& lane) const {
    const auto known = starts_.find(lane);
    return known == starts_.end() ? LanePoint{} : known->second;
}

void WorkBook::nothing_before(const Lane& lane, LanePoint point) {
    if (starts_.size() >= kLanesMax) {
        starts_.clear();  // They are found again, each with one longer walk.
    }
    starts_.insert_or_assign(lane, std::move(point));
}

WindowSends WorkBook::sent_in(PoolId pool, WindowIndex window) const {
    WindowSends sends{.window = window};
    if (const auto row = sent_.find({pool, window}); row != sent_.end()) {
        sends.sent = row->second.sent;
        sends.late = row->second.late;
    }
    return sends;
}

void WorkBook::drop_old_sent(PoolId pool, WindowIndex now, WorkChanges& changes) const {
    std::size_t dropped = 0;
    for (auto row = sent_.lower_bound({pool, 0});
         row != sent_.end() && row->first.first == pool && row->first.second + kWindowsKept < now &&
         dropped < kDroppedMax;
         ++row, ++dropped) {
        changes.sent.push_back({pool, row->first.second, 0});
    }
}

const WorkRow* WorkBook::claimed(std::string_view event_id) const {
    const auto found = claimed_.find(event_id);
    return found == claimed_.end() ? nullptr : &found->second;
}

Result<std::vector<LaneCount>, StoreError> WorkBook::counts(WorkTables& tables) {
    if (!counts_) {
        const auto lanes = tables.lanes();
        if (!lanes) {
            return Unexpected{lanes.error()};
        }
        std::map<LaneKind, std::int64_t> counts;
        for (const Lane& lane : *lanes) {
            const auto scanned = tables.scan_lane(lane, start_of(lane), [&](const LanePoint&) {
                ++counts[lane.kind];
                return true;
            });
            if (!scanned) {
                return Unexpected{scanned.error()};
            }
        }
        counts_ = std::move(counts);
    }
    std::vector<LaneCount> result;
    for (const auto& [kind, works] : *counts_) {
        if (works > 0) {
            result.push_back({kind, static_cast<std::uint64_t>(works)});
        }
    }
    return result;
}

void WorkBook::note_row(const WorkRow& row) {
    const std::string& id = row.work.event_id.text();
    const auto known = claimed_.find(id);
    if (row.work.state != WorkState::Claimed) {
        if (known != claimed_.end()) {
            claimed_.erase(known);
        }
    } else if (known != claimed_.end()) {
        known->second = row;
    } else if (claimed_.size() < kClaimedMax) {
        claimed_.emplace_hint(known, id, row);
    }
}

void WorkBook::note_lane(const LaneSpot& spot, std::int64_t change) {
    if (counts_) {
        (*counts_)[spot.lane.kind] += change;
    }
    const auto start = change > 0 ? starts_.find(spot.lane) : starts_.end();
    if (start != starts_.end() && spot.point < start->second) {
        start->second = spot.point;
    }
}

void show_truly(Work& work, const std::map<Subject, Hold>& holds) {
    if (work.state == WorkState::Parked &&
        !holds.contains(Subject{SubjectKind::Endpoint, work.route.endpoint})) {
        work.state = waiting_state(work.attempts);
    }
}

}  // namespace sluice
