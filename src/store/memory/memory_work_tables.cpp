#include "store/memory/memory_work_tables.hpp"

namespace sluice {
namespace {

template <class Row>
std::vector<std::optional<Row>> find_rows(const std::map<std::string, Row, std::less<>>& rows,
                                          std::span<const std::string_view> event_ids) {
    std::vector<std::optional<Row>> result;
    result.reserve(event_ids.size());
    for (const std::string_view id : event_ids) {
        const auto found = rows.find(id);
        result.push_back(found == rows.end() ? std::nullopt : std::optional{found->second});
    }
    return result;
}

}  // namespace

Result<std::vector<std::optional<WorkRow>>, StoreError> MemoryWorkTables::find(
    std::span<const std::string_view> event_ids) {
    const std::lock_guard lock{mutex_};
    return find_rows(works_, event_ids);
}

Result<std::vector<std::optional<WorkOrder>>, StoreError> MemoryWorkTables::orders(
    std::span<const std::string_view> event_ids) {
    const std::lock_guard lock{mutex_};
    return find_rows(orders_, event_ids);
}

Result<void, StoreError> MemoryWorkTables::scan_lane(const Lane& lane, const LanePoint& from,
                                                     const PointSink& sink) {
    const std::lock_guard lock{mutex_};
    const auto points = lanes_.find(lane);
    if (points == lanes_.end()) {
        return {};
    }
    auto point = points->second.lower_bound(from);
    while (point != points->second.end() && sink(*point)) {
        ++point;
    }
    return {};
}

Result<std::vector<Lane>, StoreError> MemoryWorkTables::lanes() {
    const std::lock_guard lock{mutex_};
    std::vector<Lane> result;
    for (const auto& [lane, points] : lanes_) {
        result.push_back(lane);
    }
    return result;
}

Result<void, StoreError> MemoryWorkTables::scan_works(std::string_view after, const WorkSink& sink) {
    const std::lock_guard lock{mutex_};
    auto row = works_.upper_bound(after);
    while (row != works_.end() && sink(row->second)) {
        ++row;
    }
    return {};
}

Result<std::vector<AuditLine>, StoreError> MemoryWorkTables::lines(const EventId& event_id,
                                                                   std::uint32_t first) {
    const std::lock_guard lock{mutex_};
    std::vector<AuditLine> result;
    if (const auto found = lines_.find(event_id.text()); found != lines_.end()) {
        for (auto line = found->second.lower_bound(first); line != found->second.end(); ++line) {
            result.push_back(line->second);
        }
    }
    return result;
}

Result<DispatchTables, StoreError> MemoryWorkTables::load() {
    const std::lock_guard lock{mutex_};
    DispatchTables result{holds_, rates_, permits_, {}, 0};
    for (const auto& [key, row] : sent_) {
        result.sent.push_back(row);
    }
    if (!subject_lines_.empty()) {
        result.next_subject_line = subject_lines_.rbegin()->first + 1;
    }
    return result;
}

void MemoryWorkTables::apply(const WorkChanges& changes) {
    const std::lock_guard lock{mutex_};
    for (const auto& [event_id, order] : changes.orders) {
        orders_.insert_or_assign(event_id.text(), *order);
    }
    for (const auto& [left, row] : changes.works) {
        if (left) {
            const auto lane = lanes_.find(left->lane);
            lane->second.erase(left->point);
            if (lane->second.empty()) {
                lanes_.erase(lane);
            }
        }
        if (auto spot = spot_of(row.work)) {
            lanes_[std::move(spot->lane)].insert(std::move(spot->point));
        }
        works_.insert_or_assign(row.work.event_id.text(), row);
    }
    for (const EventLine& line : changes.lines) {
        lines_[line.event_id.text()].insert_or_assign(line.number, line.line);
    }
    for (const SubjectLine& line : changes.subject_lines) {
        subject_lines_.insert_or_assign(line.number, line);
    }
    for (const SentRow& row : changes.sent) {
        if (row.sent == 0) {
            sent_.erase({row.pool, row.window});
        } else {
            sent_.insert_or_assign({row.pool, row.window}, row);
        }
    }
    for (const auto& [subject, hold] : changes.holds) {
        if (hold) {
            holds_.insert_or_assign(subject, *hold);
        } else {
            holds_.erase(subject);
        }
    }
    for (const auto& [subject, rate] : changes.rates) {
        if (rate) {
            rates_.insert_or_assign(subject, *rate);
        } else {
            rates_.erase(subject);
        }
    }
    for (const auto& [id, lent] : changes.permits) {
        if (lent) {
            permits_.insert_or_assign(id, *lent);
        } else {
            permits_.erase(id);
        }
    }
}

void MemoryWorkTables::forget(const std::string& event_id) {
    const std::lock_guard lock{mutex_};
    works_.erase(event_id);
    orders_.erase(event_id);
    lines_.erase(event_id);
}

}  // namespace sluice
