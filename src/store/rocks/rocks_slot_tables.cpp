#include "store/rocks/rocks_slot_tables.hpp"

#include <atomic>
#include <mutex>

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/write_batch.h>
#include <sys/statvfs.h>

#include "base/bytes.hpp"
#include "store/rocks/database.hpp"
#include "store/rocks/slot_codec.hpp"

namespace sluice {
namespace {

using rocks::Database;
using rocks::Table;
using rocks::to_error;

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

StoreError damaged(std::string_view table) {
    return {"a row of table " + std::string{table} + " cannot be read"};
}

// When a new log begins it takes 35 MiB at once, and a quarter must still be there for cancels then. The rest
// is for the write that follows the look at the free space, of 10,000 events with the longest ids perhaps: in
// the log, and in a file.
constexpr std::uint64_t kReserveLeast = std::uint64_t{64} << 20U;

// The larger of that and 2 % of the file system.
std::uint64_t usual_reserve(const std::string& folder) {
    struct statvfs disk {};
    return ::statvfs(folder.c_str(), &disk) == 0 ? std::uint64_t{disk.f_frsize} * disk.f_blocks / 50 : 0;
}

class RocksSlotTables final : public SlotTables {
public:
    RocksSlotTables(RocksPlace place, std::shared_ptr<Database> database)
        : place_{std::move(place)},
          reserve_{std::max(kReserveLeast, place_.reserve.value_or(usual_reserve(place_.path)))},
          database_{std::move(database)} {
        static_cast<void>(space());  // Merges need to know of it from the start.
    }

    ~RocksSlotTables() override {
        if (database_ && room() != StoreRoom::None) {
            database_->empty_log();
        }
    }
    RocksSlotTables(const RocksSlotTables&) = delete;
    RocksSlotTables& operator=(const RocksSlotTables&) = delete;

    Result<std::vector<std::optional<Slot>>, StoreError> find(
        std::span<const std::string_view> event_ids) override {
        const auto database = current();
        if (!database) {
            return Unexpected{closed()};
        }
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
        database->db().MultiGet(once, database->table(Table::Slots), keys.size(), keys.data(), values.data(),
                                states.data(), kSorted);
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
            if (result[i]->scheduled < database->horizon()) {
                result[i].reset();
            }
        }
        return result;
    }

    Result<std::vector<Slot>, StoreError> past(const EventId& event_id) override {
        std::vector<Slot> result;
        const std::string prefix = rocks::past_prefix(event_id);
        const Instant horizon = this->horizon();
        bool readable = true;
        const auto scanned =
            scan(Table::Past, prefix, [&](const rocksdb::Slice& key, const rocksdb::Slice& value) {
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
            scan(Table::Meta, {}, [&](const rocksdb::Slice& key, const rocksdb::Slice& value) {
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
        tables.horizon = horizon();
        return readable ? Result<ConfigTables, StoreError>{std::move(tables)}
                        : Unexpected{damaged("configs")};
    }

    Result<void, StoreError> scan_counts(PoolId pool, WindowRange range, const CountSink& sink) override {
        const std::string last = rocks::count_key(pool, range.last);
        bool readable = true;
        const auto scanned = scan(Table::Counts, rocks::count_key(pool, range.first),
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
        const auto database = current();
        if (!database) {
            return Unexpected{closed()};
        }
        std::string row;
        const auto found =
            database->db().Get({}, database->table(Table::Counts), rocks::count_key(pool, window), &row);
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
        const Instant horizon = this->horizon();
        const auto scanned =
            scan(Table::Slots, {}, [&](const rocksdb::Slice& key, const rocksdb::Slice& value) {
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
        const auto database = current();
        if (!database) {
            return Unexpected{closed()};
        }
        rocksdb::WriteBatch batch;
        if (const auto built = fill(batch, changes, *database); !built.ok()) {
            return Unexpected{to_error("cannot build a write", built)};
        }
        const auto written = database->write(batch);
        if (written.ok() && changes.horizon) {
            database->set_horizon(*changes.horizon);
        }
        return written.ok() ? Result<void, StoreError>{} : Unexpected{to_error("cannot write", written)};
    }

    Result<void, StoreError> reopen() override {
        if (current() && room() == StoreRoom::None) {
            // Opening writes. What is open can at least be read, and shows nothing that was not stored.
            return Unexpected{StoreError{"the disk is full", "Free some space; nothing is lost."}};
        }
        {
            // The folder must be released before it can be opened again; readers then find it closed.
            const std::lock_guard lock{mutex_};
            database_.reset();
        }
        auto opened = Database::open(place_);
        if (!opened) {
            return Unexpected{std::move(opened).error()};
        }
        const std::lock_guard lock{mutex_};
        database_ = std::move(*opened);
        return {};
    }

    Result<void, StoreError> verify() override {
        const auto database = current();
        if (!database) {
            return Unexpected{closed()};
        }
        const auto verified = database->db().VerifyChecksum();
        return verified.ok() ? Result<void, StoreError>{}
                             : Unexpected{to_error("a file does not hold what was written", verified)};
    }

    [[nodiscard]] std::optional<StoreSpace> space() const override {
        std::uint64_t free = 0;
        if (!rocks::env_of(place_)->GetFreeSpace(place_.path, &free).ok()) {
            return std::nullopt;
        }
        const auto database = current();
        const StoreSpace space{free, reserve_, database ? database->unsorted() : 0};
        if (database) {
            database->allow_merges(free, reserve_ + space.owed);
        }
        return space;
    }

private:
    static StoreError closed() { return {"the database is closed"}; }

    std::shared_ptr<Database> current() const {
        const std::lock_guard lock{mutex_};
        return database_;
    }

    [[nodiscard]] Instant horizon() const {
        const auto database = current();
        return database ? database->horizon() : Instant{};
    }

    // Rows from `from` on, until `row` says false.
    template <class Row>
    Result<void, StoreError> scan(Table table, std::string_view from, Row row) {
        const auto database = current();
        if (!database) {
            return Unexpected{closed()};
        }
        rocksdb::ReadOptions once;
        once.fill_cache = false;  // The cache is for filters.
        const std::unique_ptr<rocksdb::Iterator> rows{
            database->db().NewIterator(once, database->table(table))};
        for (rows->Seek(slice(from)); rows->Valid(); rows->Next()) {
            if (!row(rows->key(), rows->value())) {
                return {};
            }
        }
        return rows->status().ok() ? Result<void, StoreError>{}
                                   : Unexpected{to_error("cannot scan", rows->status())};
    }

    static rocksdb::Status fill(rocksdb::WriteBatch& batch, const SlotChanges& changes,
                                const Database& database) {
        rocksdb::Status status;
        bool is_newest = false;  // An older Sluice must not open it any more.
        const auto put = [&](Table table, std::string_view key, std::string_view value) {
            if (status.ok()) {
                status = batch.Put(database.table(table), slice(key), slice(value));
            }
        };
        for (const Slot& slot : changes.slots) {
            put(Table::Slots, slot.event_id.text(), rocks::encode_slot(slot));
        }
        for (const Slot& slot : changes.past) {
            put(Table::Past, rocks::past_key(slot.event_id, slot.revision), rocks::encode_slot(slot));
        }
        for (const ConfigVersion& config : changes.configs) {
            put(Table::Meta, rocks::config_key(config.id), rocks::encode_config(config));
            is_newest = is_newest || rocks::needs_newest_format(config);
        }
        for (const Pool& pool : changes.pools) {
            put(Table::Meta, rocks::pool_key(pool.name), rocks::encode_pool(pool));
        }
        for (const WindowCount& count : changes.counts) {
            const std::string key = rocks::count_key(count.pool, count.window);
            if (count.content.places != 0) {
                put(Table::Counts, key, rocks::encode_content(count.content));
            } else if (status.ok()) {
                status = batch.Delete(database.table(Table::Counts), key);
            }
        }
        const auto drop_counts = [&](PoolId pool, const std::string& end) {
            if (status.ok()) {
                status = batch.DeleteRange(database.table(Table::Counts), rocks::count_key(pool, 0), end);
            }
        };
        for (const PoolId pool : changes.dropped_pools) {
            drop_counts(pool, rocks::count_key(PoolId{static_cast<std::uint32_t>(pool) + 1}, 0));
        }
        for (const auto& [pool, end] : changes.dropped_counts) {
            drop_counts(pool, rocks::count_key(pool, end));
        }
        if (changes.horizon) {
            put(Table::Meta, rocks::kHorizonKey, rocks::encode_instant(*changes.horizon));
            is_newest = true;  // A Sluice that knows no horizon would bring back what is forgotten.
        }
        if (is_newest) {
            put(Table::Meta, rocks::kFormatKey, ByteWriter{}.number(rocks::kFormatVersion).bytes());
        }
        return status;
    }

    const RocksPlace place_;
    const std::uint64_t reserve_;
    mutable std::mutex mutex_;
    std::shared_ptr<Database>
        database_;  // Guarded by mutex_. Null while it is closed. Readers keep it alive.
};

}  // namespace

Result<std::unique_ptr<SlotTables>, StoreError> open_rocks_slot_tables(const RocksPlace& place) {
    auto database = Database::open(place);
    if (!database) {
        return Unexpected{std::move(database).error()};
    }
    return std::unique_ptr<SlotTables>{std::make_unique<RocksSlotTables>(place, std::move(*database))};
}

}  // namespace sluice
