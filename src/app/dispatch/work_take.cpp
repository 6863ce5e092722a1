#include "app/dispatch/work_take.hpp"

#include <algorithm>

#include "app/dispatch/work_outcomes.hpp"

namespace sluice {

Result<bool, StoreError> WorkTake::run(std::size_t most, const WorkStore::Judge& judge) {
    taken_.now = now_;
    const auto points = due(most);
    if (!points) {
        return Unexpected{points.error()};
    }
    std::vector<std::string_view> ids;
    ids.reserve(points->size());
    for (const LanePoint& point : *points) {
        ids.emplace_back(point.event_id);
    }
    auto drafts = WorkDrafts::read(std::move(ids), tables_, ledger_.state().works);
    if (!drafts) {
        return Unexpected{std::move(drafts).error()};
    }
    drafts_ = std::move(*drafts);
    auto start = judge_all(*points, judge);
    if (!start) {
        return Unexpected{std::move(start).error()};
    }
    if (const auto added = add_orders(); !added) {
        return Unexpected{added.error()};
    }
    SlotChanges changes;
    WorkBook& book = ledger_.state().works;
    for (const auto& [pool, counted] : counted_) {
        const WindowSends& sends = counted.sends;
        if (sends.sent != book.sent_in(pool, sends.window).sent) {
            changes.work.sent.push_back({pool, sends.window, sends.sent, sends.late});
            book.drop_old_sent(pool, sends.window, changes.work);
        }
    }
    if (auto moved = drafts_.move_into(changes, ledger_.state().tables); !moved) {
        return Unexpected{std::move(moved).error()};
    }
    // Before the commit, which moves the start back for all that comes in before it.
    book.nothing_before(lane_, *start);
    bool is_news = false;
    if (!changes.empty()) {
        auto committed = ledger_.commit(changes);
        if (!committed) {
            return committed;  // The ledger has stopped, and its state will be read anew.
        }
        is_news = *committed;
    }
    if (const auto looked = look_ahead(); !looked) {
        return Unexpected{looked.error()};
    }
    return is_news;
}

Result<std::vector<LanePoint>, StoreError> WorkTake::due(std::size_t most) {
    std::vector<LanePoint> points;
    const auto scanned =
        tables_.scan_lane(lane_, ledger_.state().works.start_of(lane_), [&](const LanePoint& point) {
            if (points.size() >= most || point.due > now_) {
                return false;
            }
            points.push_back(point);
            return true;
        });
    return scanned ? Result<std::vector<LanePoint>, StoreError>{std::move(points)}
                   : Unexpected{scanned.error()};
}

Result<LanePoint, StoreError> WorkTake::judge_all(const std::vector<LanePoint>& points,
                                                  const WorkStore::Judge& judge) {
    LanePoint start = ledger_.state().works.start_of(lane_);
    for (const LanePoint& point : points) {
        start = point;
        WorkDraft* draft = drafts_.find(point.event_id);
        if (draft == nullptr) {
            return Unexpected{StoreError{"a lane names a work that does not exist"}};
        }
        const auto verdict = ask(draft->work(), judge);
        if (!verdict) {
            return Unexpected{verdict.error()};
        }
        if (!apply(*draft, *verdict)) {
            break;
        }
    }
    return start;
}

Result<WorkVerdict, StoreError> WorkTake::ask(const Work& work, const WorkStore::Judge& judge) {
    LedgerState& state = ledger_.state();
    const ConfigRef config = state.book.active(work.config);
    if (config == nullptr || state.book.find_pool(work.pool) == nullptr) {
        return Unexpected{StoreError{"a work names a config or a pool that does not exist"}};
    }
    Counted& counted = this->counted(work);
    if (const auto failure = state.failure()) {
        return Unexpected{*failure};
    }
    counted.sends.cap = config->terms.max_per_window;
    const WindowGrid grid{counted.pool.window_size};
    return judge({work, counted.sends, lateness(work, counted), *state.works.terms(state.book), now_,
                  grid.start_of(counted.sends.window + 1)});
}

bool WorkTake::apply(WorkDraft& draft, const WorkVerdict& verdict) {
    if (std::holds_alternative<ClaimIt>(verdict)) {
        count_as_sent(draft.work());
    }
    apply_verdict(draft, verdict, now_);
    if (std::holds_alternative<ClaimIt>(verdict)) {
        claimed_.push_back(draft.work().event_id.text());
        taken_.claimed.push_back({draft.work(), {}});
    } else if (const auto* aside = std::get_if<SetAside>(&verdict)) {
        taken_.filled.insert(aside->lane);
    }
    return !std::holds_alternative<LeaveIt>(verdict);
}

void WorkTake::count_as_sent(const Work& work) {
    Counted& counted = this->counted(work);
    counted.sends.sent += work.weight;
    if (lateness(work, counted) == Lateness::Late) {
        counted.sends.late += work.weight;
    }
}

Result<void, StoreError> WorkTake::add_orders() {
    if (claimed_.empty()) {
        return {};
    }
    std::vector<std::string_view> ids{claimed_.begin(), claimed_.end()};
    std::ranges::sort(ids);
    auto orders = tables_.orders(ids);
    if (!orders) {
        return Unexpected{std::move(orders).error()};
    }
    for (ClaimedWork& claimed : taken_.claimed) {
        const auto at = std::ranges::lower_bound(ids, std::string_view{claimed.work.event_id.text()});
        std::optional<WorkOrder>& order = (*orders)[static_cast<std::size_t>(at - ids.begin())];
        if (!order) {
            return Unexpected{StoreError{"a work has no order"}};
        }
        claimed.order = std::move(*order);
    }
    return {};
}

Result<void, StoreError> WorkTake::look_ahead() {
    return tables_.scan_lane(lane_, ledger_.state().works.start_of(lane_), [this](const LanePoint& point) {
        taken_.next = point.due;
        ledger_.state().works.nothing_before(lane_, point);
        return false;
    });
}

WorkTake::Counted& WorkTake::counted(const Work& work) {
    LedgerState& state = ledger_.state();
    const Pool& pool = state.book.pool(work.pool);
    const auto known = counted_.find(pool.id);
    if (known != counted_.end()) {
        return known->second;
    }
    WindowSends sends = state.works.sent_in(pool.id, WindowGrid{pool.window_size}.index_of(now_));
    sends.planned = state.windows_of(pool).held(sends.window);
    return counted_.emplace(pool.id, Counted{pool, sends}).first->second;
}

Lateness WorkTake::lateness(const Work& work, const Counted& counted) {
    const WindowIndex own = WindowGrid{counted.pool.window_size}.index_of(work.scheduled);
    return work.attempts > 0 || own != counted.sends.window ? Lateness::Late : Lateness::Fresh;
}

}  // namespace sluice
