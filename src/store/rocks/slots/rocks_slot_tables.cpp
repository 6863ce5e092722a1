#include "store/rocks/slots/rocks_slot_tables.hpp"

#include <rocksdb/db.h>

#include "store/rocks/slots/slot_codec.hpp"

namespace sluice {
namespace {

using rocks::Database;
using rocks::SlotTable;
using rocks::to_error;

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// The folder's own table, where configs and pools stand.
constexpr std::optional<SlotTable> kMeta = std::nullopt;

StoreError damaged(std::string_view table) {
    return {"a row of table " + std::string{table} + " cannot be read"};
}

class RocksSlotTables final : public SlotTables {
public:
    RocksSlotTables(std::shared_ptr<rocks::Folder> folder, std::shared_ptr<const rocks::SlotTableSet> set)
        : folder_{std::move(folder)}, set_{std::move(set)} {}

    Result<std::vector<std::optional<Slot>>, StoreError> find(
        std::span<const std::string_view> event_ids) override {
        const auto opened = folder_->database();
        if (!opened) {
            return Unexpected{opened.error()};
        }
        const Database& database = **opened;
        std::vector<rocksdb::Slice> keys;
        keys.reserve(event_ids.size());
        for (const std::string_view id : event_ids) {
            keys.push_back(slice(id));
        }
        std::vector<rocksdb::PinnableSlice> values(keys.size());
        std::vector<rocksdb::Status> states(keys.size());
        rocksdb::ReadOptions once;
        once.fill_cache = false;  // The cache is for filters: an event is seldom asked for twice.
        constexpr bool kSorted = true;
        database.db().MultiGet(once, set_->table(database, SlotTable::Slots), keys.size(), keys.data(), values.data(),
                                states.data(), kSorted);
        const Instant horizon = set_->horizon();
        std::vector<std::optional<Slot>> result(keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (states[i].IsNotFound()) {
                continue;
            }
            if (!states[i].ok()) {
                return Unexpected{to_error("cannot read slots", states[i])};
            }
            result[i] = rocks::decode_slot(event_ids[i], view(values[i]));
            if (!result[i]) {
                return Unexpected{damaged("slots")};
            }
            if (result[i]->scheduled < horizon) {
                result[i].reset();
            }
        }
        return result;
    }

    Result<std::vector<Slot>, StoreError> past(const EventId& event_id) override {
        std::vector<Slot> result;
        const std::string prefix = rocks::past_prefix(event_id);
        const Instant horizon = set_->horizon();
        bool readable = true;
        const auto scanned =
            scan(SlotTable::Past, prefix, [&](const rocksdb::Slice& key, const rocksdb::Slice& value) {
                if (!key.starts_with(prefix)) {
                    return false;
                }
                auto slot = rocks::decode_slot(event_id.text(), view(value));
                readable = slot.has_value();
                if (readable && slot->scheduled >= horizon) {
                    result.push_back(std::move(*slot));
                }
                return readable;
            });
        if (!scanned) {
            return Unexpected{scanned.error()};
        }
        return readable ? Result<std::vector<Slot>, StoreError>{std::move(result)}
                        : Unexpected{damaged("past")};
    }

    Result<ConfigTables, StoreError> load_configs() override {
        ConfigTables tables;
        bool readable = true;
        const auto scanned =
            scan(kMeta, {}, [&](const rocksdb::Slice& key, const rocksdb::Slice& value) {
                if (key.starts_with("config/")) {
                    auto config = rocks::decode_config(view(value));
                    readable = readable && config;
                    if (config) {
                        tables.configs.push_back(std::move(*config));
                    }
                } else if (key.starts_with("pool/")) {
                    auto pool = rocks::decode_pool(view(value));
                    readable = readable && pool;
                    if (pool) {
                        tables.pools.push_back(std::move(*pool));
                    }
                }
                return readable;
            });
        if (!scanned) {
            return Unexpected{scanned.error()};
        }
        tables.horizon = set_->horizon();
        return readable ? Result<ConfigTables, StoreError>{std::move(tables)}
                        : Unexpected{damaged("configs")};
    }

    Result<void, StoreError> scan_counts(PoolId pool, WindowRange range, const CountSink& sink) override {
        const std::string last = rocks::count_key(pool, range.last);
        bool readable = true;
        const auto scanned = scan(SlotTable::Counts, rocks::count_key(pool, range.first),
                                  [&](const rocksdb::Slice& key, const rocksdb::Slice& value) {
                                      if (key.compare(last) > 0) {
                                          return false;
                                      }
                                      const auto window = rocks::decode_count_key(view(key));
                                      const auto places = rocks::decode_places(view(value));
                                      readable = window && places;
                                      return readable && sink(*window, *places);
                                  });
        return scanned && !readable ? Unexpected{damaged("counts")} : scanned;
    }

    Result<std::optional<WindowCells>, StoreError> cells(PoolId pool, WindowIndex window) override {
        const auto opened = folder_->database();
        if (!opened) {
            return Unexpected{opened.error()};
        }
        const Database& database = **opened;
        std::string row;
        const auto found =
            database.db().Get({}, set_->table(database, SlotTable::Counts), rocks::count_key(pool, window), &row);
        if (found.IsNotFound()) {
            return std::optional<WindowCells>{};
        }
        if (!found.ok()) {
            return Unexpected{to_error("cannot read cells", found)};
        }
        auto content = rocks::decode_content(row);
        return content ? Result<std::optional<WindowCells>, StoreError>{std::move(content->cells)}
                       : Unexpected{damaged("counts")};
    }

    Result<void, StoreError> scan_slots(const std::function<void(const Slot&)>& sink) override {
        bool readable = true;
        const Instant horizon = set_->horizon();
        const auto scanned =
            scan(SlotTable::Slots, {}, [&](const rocksdb::Slice& key, const rocksdb::Slice& value) {
                const auto slot = rocks::decode_slot(view(key), view(value));
                readable = slot.has_value();
                if (readable && slot->scheduled >= horizon) {
                    sink(*slot);
                }
                return readable;
            });
        return scanned && !readable ? Unexpected{damaged("slots")} : scanned;
    }

    Result<void, StoreError> commit(const SlotChanges& changes) override {
        auto batch = folder_->begin();
        if (!batch) {
            return Unexpected{batch.error()};
        }
        set_->add(*batch, changes);
        return batch->commit();
    }

    Result<void, StoreError> reopen() override { return folder_->reopen(); }
    Result<void, StoreError> verify() override { return folder_->verify(); }
    [[nodiscard]] std::optional<StoreSpace> space() const override { return folder_->space(); }

private:
    // Rows from `from` on, until `row` says false.
    template <class Row>
    Result<void, StoreError> scan(std::optional<SlotTable> table, std::string_view from, Row row) {
        const auto opened = folder_->database();
        if (!opened) {
            return Unexpected{opened.error()};
        }
        const Database& database = **opened;
        rocksdb::ReadOptions once;
        once.fill_cache = false;  // The cache is for filters.
        const std::unique_ptr<rocksdb::Iterator> rows{
            database.db().NewIterator(once, table ? set_->table(database, *table) : database.meta())};
        for (rows->Seek(slice(from)); rows->Valid(); rows->Next()) {
            if (!row(rows->key(), rows->value())) {
                return {};
            }
        }
        return rows->status().ok() ? Result<void, StoreError>{}
                                   : Unexpected{to_error("cannot scan", rows->status())};
    }

    const std::shared_ptr<rocks::Folder> folder_;  // Shared with other sets of tables.
    const std::shared_ptr<const rocks::SlotTableSet> set_;
};

}  // namespace

std::unique_ptr<SlotTables> make_rocks_slot_tables(std::shared_ptr<rocks::Folder> folder,
                                                   std::shared_ptr<const rocks::SlotTableSet> set) {
    return std::make_unique<RocksSlotTables>(std::move(folder), std::move(set));
}

Result<std::unique_ptr<SlotTables>, StoreError> open_rocks_slot_tables(const RocksPlace& place) {
    const auto set = std::make_shared<rocks::SlotTableSet>();
    auto folder = rocks::Folder::open(place, {set});
    if (!folder) {
        return Unexpected{std::move(folder).error()};
    }
    return make_rocks_slot_tables(std::move(*folder), set);
}

}  // namespace sluice
