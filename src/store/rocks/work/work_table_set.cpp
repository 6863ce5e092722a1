#include "store/rocks/work/work_table_set.hpp"

#include <algorithm>

#include "store/rocks/client/row_filters_internal.hpp"
#include "store/rocks/work/work_codec.hpp"

namespace sluice::rocks {

std::vector<TableDraft> WorkTableSet::tables() const {
    return {{.name = "works",
             .keys = KeyOrder::Mixed,
             .sorted_batches = true,
             .filter = make_row_filter(horizon_, closed_work_scheduled)},
            {.name = "orders",
             .keys = KeyOrder::Mixed,
             .sorted_batches = true,
             .filter = make_row_filter(horizon_, closed_order_scheduled),
             .merge = make_appending()},
            {.name = "lanes", .sorted_batches = true},
            {.name = "audit",
             .keys = KeyOrder::Mixed,
             .sorted_batches = true,
             .filter = make_row_filter(horizon_, line_time, audit_retention_)},
            {.name = "sent"}};
}

// Sorted, because neighbours are stored at less cost one after the other; see table_options(). What leaves
// goes first: it may come back to the same place.
void WorkTableSet::add_lanes(Batch& batch, const std::vector<WorkChange>& changes) const {
    std::vector<std::string> left;
    std::vector<std::string> entered;
    for (const WorkChange& change : changes) {
        if (change.left) {
            left.push_back(lane_key(*change.left));
        }
        if (const auto spot = spot_of(change.row.work)) {
            entered.push_back(lane_key(*spot));
        }
    }
    std::ranges::sort(left);
    std::ranges::sort(entered);
    const auto lanes = table(batch.database(), WorkTable::Lanes);
    for (const std::string& key : left) {
        batch.remove(lanes, key);
    }
    for (const std::string& key : entered) {
        batch.put(lanes, key, {});
    }
}

void WorkTableSet::add(Batch& batch, const WorkChanges& changes) const {
    batch.need_newest_format();
    const Database& database = batch.database();
    const auto orders = table(database, WorkTable::Orders);
    for (const auto& [event_id, order] : changes.orders) {
        batch.put(orders, event_id.text(), encode_order(*order));
    }
    const auto works = table(database, WorkTable::Works);
    for (const auto& [left, row] : changes.works) {
        if (is_final(row.work.state)) {
            batch.merge(orders, row.work.event_id.text(), encode_closed_note(row.work.scheduled));
        }
        batch.put(works, row.work.event_id.text(), encode_work(row));
    }
    add_lanes(batch, changes.works);
    const auto audit = table(database, WorkTable::Audit);
    for (const EventLine& line : changes.lines) {
        batch.put(audit, line_key(line.event_id.text(), line.number), encode_line(line.line));
    }
    for (const SubjectLine& line : changes.subject_lines) {
        batch.put(audit, subject_line_key(line.number), encode_subject_line(line));
    }
    const auto sent = table(database, WorkTable::Sent);
    for (const SentRow& row : changes.sent) {
        if (row.sent != 0) {
            batch.put(sent, sent_key(row.pool, row.window), encode_sent(row));
        } else {
            batch.remove(sent, sent_key(row.pool, row.window));
        }
    }
    const auto put_or_remove = [&](const std::string& key, const std::optional<std::string>& value) {
        if (value) {
            batch.put(database.meta(), key, *value);
        } else {
            batch.remove(database.meta(), key);
        }
    };
    for (const auto& [subject, hold] : changes.holds) {
        put_or_remove(subject_key(kHoldPrefix, subject),
                      hold ? std::optional{encode_hold(*hold)} : std::nullopt);
    }
    for (const auto& [subject, rate] : changes.rates) {
        put_or_remove(subject_key(kRatePrefix, subject),
                      rate ? std::optional{encode_rate(*rate)} : std::nullopt);
    }
    for (const auto& [id, lent] : changes.permits) {
        put_or_remove(std::string{kPermitPrefix} + id,
                      lent ? std::optional{encode_permit(*lent)} : std::nullopt);
    }
}

}  // namespace sluice::rocks
