#include "store/rocks/slots/slot_table_set.hpp"

#include <algorithm>

#include <rocksdb/compaction_filter.h>
#include <rocksdb/db.h>

#include "store/rocks/slots/slot_codec.hpp"

namespace sluice::rocks {
namespace {

std::chrono::seconds sorted_every(Duration retention) {
    using std::chrono::seconds;
    const auto quarter = std::chrono::duration_cast<seconds>(retention / 4);
    return std::clamp<seconds>(quarter, std::chrono::days{1}, std::chrono::days{30});
}

// A Sluice that knows no horizon would bring back what is forgotten.
bool need_newest_format(const SlotChanges& changes) {
    const auto needs = [](const auto& row) { return needs_newest_format(row); };
    return changes.horizon || std::ranges::any_of(changes.configs, needs) ||
           std::ranges::any_of(changes.slots, needs);
}

void add_configs(Batch& batch, const SlotChanges& changes) {
    const auto meta = batch.database().meta();
    const RecordVersion version = slot_record_for(batch.format());
    for (const ConfigVersion& config : changes.configs) {
        batch.put(meta, config_key(config.id), encode_config(config, version));
    }
    for (const Pool& pool : changes.pools) {
        batch.put(meta, pool_key(pool.name), encode_pool(pool, version));
    }
}

void add_counts(Batch& batch, Database::Table counts, const SlotChanges& changes) {
    const RecordVersion version = slot_record_for(batch.format());
    for (const WindowCount& count : changes.counts) {
        const std::string key = count_key(count.pool, count.window);
        if (count.content.places != 0) {
            batch.put(counts, key, encode_content(count.content, version));
        } else {
            batch.remove(counts, key);
        }
    }
    for (const PoolId pool : changes.dropped_pools) {
        const PoolId next{static_cast<std::uint32_t>(pool) + 1};
        batch.remove_range(counts, count_key(pool, 0), count_key(next, 0));
    }
    for (const auto& [pool, end] : changes.dropped_counts) {
        batch.remove_range(counts, count_key(pool, 0), count_key(pool, end));
    }
}

}  // namespace

std::vector<TableDraft> SlotTableSet::tables() const {
    TableDraft slots{.name = "slots", .keys = KeyOrder::Mixed, .filter = make_forgetting(horizon_)};
    if (retention_) {
        slots.sorted_every = sorted_every(*retention_);
    }
    TableDraft past = slots;
    past.name = "past";
    return {slots, past, {.name = "counts"}};
}

Result<void, StoreError> SlotTableSet::opened(const Database& database) {
    std::string stored;
    const auto found = database.db().Get({}, database.meta(), kHorizonKey, &stored);
    if (found.IsNotFound()) {
        horizon_->set({});
        return {};
    }
    if (!found.ok()) {
        return Unexpected{to_error("cannot read the horizon", found)};
    }
    const auto horizon = decode_instant(stored);
    if (!horizon) {
        return Unexpected{unreadable_row("horizon", stored, kSlotRecord)};
    }
    horizon_->set(*horizon);
    return {};
}

void SlotTableSet::add(Batch& batch, const SlotChanges& changes) const {
    const Database& database = batch.database();
    if (need_newest_format(changes)) {
        batch.need_newest_format();
    }
    const RecordVersion version = slot_record_for(batch.format());
    const auto slots = table(database, SlotTable::Slots);
    for (const Slot& slot : changes.slots) {
        batch.put(slots, slot.event_id.text(), encode_slot(slot, version));
    }
    const auto past = table(database, SlotTable::Past);
    for (const Slot& slot : changes.past) {
        batch.put(past, past_key(slot.event_id, slot.revision), encode_slot(slot, version));
    }
    add_configs(batch, changes);
    add_counts(batch, table(database, SlotTable::Counts), changes);
    if (changes.horizon) {
        batch.put(database.meta(), kHorizonKey, encode_instant(*changes.horizon, version));
        batch.when_stored([this, horizon = *changes.horizon] { horizon_->set(horizon); });
    }
}

}  // namespace sluice::rocks
