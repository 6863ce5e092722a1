#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "app/dispatch/work_tables.hpp"

namespace sluice {

// A work as a commit that is being put together sees it: as stored, then as its steps have left it.
class WorkDraft {
public:
    // One that is stored.
    explicit WorkDraft(WorkRow row) : row_{std::move(row)}, left_{spot_of(row_.work)} {}
    // A new one.
    WorkDraft(Work work, std::shared_ptr<const WorkOrder> order)
        : row_{std::move(work), 0}, order_{std::move(order)}, changed_{true} {}

    [[nodiscard]] const Work& work() const { return row_.work; }
    // Null: it is stored already.
    [[nodiscard]] const std::shared_ptr<const WorkOrder>& order() const { return order_; }
    [[nodiscard]] bool changed() const { return changed_; }

    Work& change() {
        changed_ = true;
        return row_.work;
    }
    void add_line(AuditLine line, Instant now) {
        line.at = now;
        lines_.push_back({row_.work.event_id, row_.lines++, std::move(line)});
        changed_ = true;
    }

    // Adds all of it; the draft is used up. REQUIRES: changed().
    void move_into(WorkChanges& changes) {
        if (order_ != nullptr) {
            changes.orders.push_back({row_.work.event_id, std::move(order_)});
        }
        std::ranges::move(lines_, std::back_inserter(changes.lines));
        changes.works.push_back({std::move(left_), std::move(row_)});
    }

private:
    WorkRow row_;
    std::optional<LaneSpot> left_{};
    std::shared_ptr<const WorkOrder> order_{};
    std::vector<EventLine> lines_{};
    bool changed_ = false;
};

}  // namespace sluice
