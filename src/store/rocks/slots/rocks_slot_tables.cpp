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

// Where rows are read from.
struct Source {
    std::optional<SlotTable> table;  // Absent: the folder's own, where configs and pools stand.
    std::string_view name;           // As errors call it.
};
constexpr Source kSlots{SlotTable::Slots, "slots"};
constexpr Source kPast{SlotTable::Past, "past"};
constexpr Source kCounts{SlotTable::Counts, "counts"};
constexpr Source kConfigs{std::nullopt, "configs"};

// What follows a row of a scan.
enum class Next { Row, End, Error };

Unexpected<StoreError> unreadable(const Source& source, std::string_view bytes) {
    return Unexpected{rocks::unreadable_row(source.name, bytes, rocks::kSlotRecord)};
}

bool is_forgotten(const Slot& slot, Instant horizon) {
    return slot.scheduled < horizon && slot.work != WorkMark::Open;
}

class RocksSlotTables final : public SlotTables {
public:
    RocksSlotTables(std::shared_ptr<rocks::Folder> folder, std::shared_ptr<const rocks::SlotTableSet> set,
                    std::unique_ptr<rocks::WorkRows> work)
        : folder_{std::move(folder)}, set_{std::move(set)}, work_{std::move(work)} {}

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
        database.db().MultiGet(once, set_->table(database, SlotTable::Slots), keys.size(), keys.data(),
                               values.data(), states.data(), kSorted);
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
                return unreadable(kSlots, view(values[i]));
            }
            if (is_forgotten(*result[i], horizon)) {
                result[i].reset();
            }
        }
        return result;
    }

    Result<std::vector<Slot>, StoreError> past(const EventId& event_id) override {
        std::vector<Slot> result;
        const std::string prefix = rocks::past_prefix(event_id);
        const Instant horizon = set_->horizon();
        const auto scanned = scan(kPast, prefix, [&](std::string_view key, std::string_view value) {
            if (!key.starts_with(prefix)) {
                return Next::End;
            }
            auto slot = rocks::decode_slot(event_id.text(), value);
            if (slot && slot->scheduled >= horizon) {
                result.push_back(*slot);
            }
            return slot ? Next::Row : Next::Error;
        });
        return scanned ? Result<std::vector<Slot>, StoreError>{std::move(result)}
                       : Unexpected{scanned.error()};
    }

    Result<ConfigTables, StoreError> load_configs() override {
        ConfigTables tables;
        tables.horizon = set_->horizon();
        const auto add = [](auto& rows, auto row) {
            if (row) {
                rows.push_back(std::move(*row));
            }
            return row ? Next::Row : Next::Error;
        };
        const auto scanned = scan(kConfigs, {}, [&](std::string_view key, std::string_view value) {
            return key.starts_with("config/") ? add(tables.configs, rocks::decode_config(value))
                   : key.starts_with("pool/") ? add(tables.pools, rocks::decode_pool(value))
                                              : Next::Row;
        });
        return scanned ? Result<ConfigTables, StoreError>{std::move(tables)} : Unexpected{scanned.error()};
    }

    Result<void, StoreError> scan_counts(PoolId pool, WindowRange range, const CountSink& sink) override {
        const std::string last = rocks::count_key(pool, range.last);
        return scan(kCounts, rocks::count_key(pool, range.first),
                    [&](std::string_view key, std::string_view value) {
                        if (key > last) {
                            return Next::End;
                        }
                        const auto window = rocks::decode_count_key(key);
                        const auto places = rocks::decode_places(value);
                        if (!window || !places) {
                            return Next::Error;
                        }
                        return sink(*window, *places) ? Next::Row : Next::End;
                    });
    }

    Result<std::optional<WindowCells>, StoreError> cells(PoolId pool, WindowIndex window) override {
        const auto opened = folder_->database();
        if (!opened) {
            return Unexpected{opened.error()};
        }
        const Database& database = **opened;
        std::string row;
        const auto found = database.db().Get({}, set_->table(database, SlotTable::Counts),
                                             rocks::count_key(pool, window), &row);
        if (found.IsNotFound()) {
            return std::optional<WindowCells>{};
        }
        if (!found.ok()) {
            return Unexpected{to_error("cannot read cells", found)};
        }
        auto content = rocks::decode_content(row);
        return content ? Result<std::optional<WindowCells>, StoreError>{std::move(content->cells)}
                       : unreadable(kCounts, row);
    }

    Result<void, StoreError> scan_slots(const std::function<void(const Slot&)>& sink) override {
        const Instant horizon = set_->horizon();
        return scan(kSlots, {}, [&](std::string_view key, std::string_view value) {
            const auto slot = rocks::decode_slot(key, value);
            if (slot && !is_forgotten(*slot, horizon)) {
                sink(*slot);
            }
            return slot ? Next::Row : Next::Error;
        });
    }

    Result<void, StoreError> commit(const SlotChanges& changes) override {
        auto batch = folder_->begin();
        if (!batch) {
            return Unexpected{batch.error()};
        }
        set_->add(*batch, changes);
        if (work_ != nullptr && !changes.work.empty()) {
            work_->add(*batch, changes.work);
        }
        return batch->commit();
    }

    WorkTables* work() override { return work_.get(); }

    Result<void, StoreError> reopen() override { return folder_->reopen(); }
    Result<void, StoreError> verify() override { return folder_->verify(); }
    [[nodiscard]] std::optional<StoreSpace> space() const override { return folder_->space(); }

private:
    // Rows from `from` on.
    template <class Row>
    Result<void, StoreError> scan(const Source& source, std::string_view from, Row row) {
        const auto opened = folder_->database();
        if (!opened) {
            return Unexpected{opened.error()};
        }
        const Database& database = **opened;
        rocksdb::ReadOptions once;
        once.fill_cache = false;  // The cache is for filters.
        const std::unique_ptr<rocksdb::Iterator> rows{database.db().NewIterator(
            once, source.table ? set_->table(database, *source.table) : database.meta())};
        for (rows->Seek(slice(from)); rows->Valid(); rows->Next()) {
            switch (row(view(rows->key()), view(rows->value()))) {
                case Next::Row: break;
                case Next::End: return {};
                case Next::Error: return unreadable(source, view(rows->value()));
            }
        }
        return rows->status().ok() ? Result<void, StoreError>{}
                                   : Unexpected{to_error("cannot scan", rows->status())};
    }

    const std::shared_ptr<rocks::Folder> folder_;  // Shared with other sets of tables.
    const std::shared_ptr<const rocks::SlotTableSet> set_;
    const std::unique_ptr<rocks::WorkRows> work_;
};

}  // namespace

std::unique_ptr<SlotTables> make_rocks_slot_tables(std::shared_ptr<rocks::Folder> folder,
                                                   std::shared_ptr<const rocks::SlotTableSet> set,
                                                   std::unique_ptr<rocks::WorkRows> work) {
    return std::make_unique<RocksSlotTables>(std::move(folder), std::move(set), std::move(work));
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
