// How many slots a second does the embedded store assign, without any door in front of it, and how far is
// that from what RocksDB can write at all? Budget: at least 0.6 of the bare loop, and no slower behind a
// backlog.
//
//   slot_engine_bench prefill FOLDER          makes the backlog that the modes below stand behind
//   slot_engine_bench MODE FOLDER SLOTS       assigns SLOTS slots in batches of 256 and prints the figures
//
// Modes on a new folder: `empty`, and `bare`, which writes the same records without reads or rules. Modes on
// the prefilled folder: `behind` 10,000 full windows; `beside`, the same folder at a time without backlog;
// `lower-cap`, behind windows that are full for this config only; `weight`, behind windows without room
// for 3.
#include <cstdlib>
#include <string_view>
#include <thread>

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>
#include <unistd.h>

#include "app/slots/slot_ledger.hpp"
#include "silent_world.hpp"
#include "slot_work.hpp"
#include "store/rocks/slots/rocks_slot_tables.hpp"
#include "store/rocks/slots/slot_codec.hpp"

namespace sluice::bench {
namespace {

constexpr std::size_t kBacklog = 10'000;  // Windows.
constexpr std::size_t kWarmUp = 20;       // Batches.
constexpr Duration kElsewhere = std::chrono::days{366};

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "slot_engine_bench: %s\n", why.c_str());
    std::exit(1);
}

// What one mode asks for, over and over.
struct Work {
    ConfigName config = *ConfigName::make("default");
    Instant requested = kRequested;
    Places weight = 1;
    std::int64_t depth_min = 0;  // No slot may be nearer, or the backlog is not there.
};

// The ledger of a folder, with the configs of all modes.
class Engine {
public:
    explicit Engine(const std::string& folder) {
        auto tables = open_rocks_slot_tables({folder});
        if (!tables) {
            give_up(tables.error().what);
        }
        LedgerOptions options;
        options.seed = fresh_seed();
        ledger_ = make_slot_ledger(std::move(*tables), options, {clock_, metrics_, log_});
    }

    static std::uint64_t fresh_seed() {
        const auto now = std::chrono::system_clock::now().time_since_epoch().count();
        return static_cast<std::uint64_t>(now) ^ (static_cast<std::uint64_t>(getpid()) << 40U);
    }

    void configure() {
        put("default", kCap, "default");
        put("wide", kCap, "shared");
        put("narrow", kCap / 2, "shared");
        put("weighted", kCap, "weighted");
    }

    std::vector<SlotCommand> commands(const Work& work, std::size_t count) {
        std::vector<SlotCommand> result;
        result.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            result.emplace_back(AssignSlot{ids_.next(), work.config, SlotAsk{work.requested, work.weight}});
        }
        return result;
    }

    // A reply that is not a new slot ends the program: nothing of it would be comparable.
    static void check(const std::vector<SlotReply>& replies, const Work& work) {
        for (const SlotReply& reply : replies) {
            const auto& outcome = std::get<SlotOutcome>(reply);
            if (!outcome) {
                give_up("no slot: " + outcome.error().detail);
            }
            if (outcome->repeated || outcome->depth < work.depth_min) {
                give_up("a slot is not new, or not behind the backlog; was the folder prefilled?");
            }
        }
    }

    SlotStore& store() { return *ledger_; }

private:
    void put(std::string_view name, Places cap, std::string_view pool) {
        const auto put = ledger_->put_config({*ConfigName::make(name), cap, kWindow, *PoolName::make(pool)});
        if (!put) {
            give_up("no config: " + put.error().detail);
        }
    }

    SystemClock clock_;
    NoMetrics metrics_;
    TroubleLog log_;
    EventIds ids_{fresh_seed()};
    std::unique_ptr<SlotStore> ledger_;
};

void fill(Engine& engine, const Work& work, std::size_t events) {
    constexpr std::size_t kLarge = 10'000;
    auto told = std::chrono::steady_clock::now();
    for (std::size_t done = 0; done < events; done += kLarge) {
        const auto commands = engine.commands(work, std::min(kLarge, events - done));
        Engine::check(engine.store().execute(commands), work);
        if (const auto now = std::chrono::steady_clock::now(); now - told > std::chrono::seconds{2}) {
            told = now;
            std::fprintf(stderr, "    %zu of %zu slots\n", done + kLarge, events);
        }
    }
}

// Lets the files be sorted to the end, so that no mode pays for what was written before it.
void settle(const std::string& folder) {
    const auto set = std::make_shared<rocks::SlotTableSet>();
    const auto database = rocks::Database::open({folder}, {set});
    if (!database) {
        give_up(database.error().what);
    }
    auto& db = (*database)->db();
    for (const auto table : {rocks::SlotTable::Slots, rocks::SlotTable::Counts}) {
        db.Flush({}, set->table(**database, table));
    }
    const auto busy = [&](const char* property) {
        std::uint64_t value = 0;
        return db.GetAggregatedIntProperty(property, &value) && value > 0;
    };
    while (busy("rocksdb.compaction-pending") || busy("rocksdb.num-running-compactions") ||
           busy("rocksdb.num-running-flushes")) {
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
}

void prefill(const std::string& folder) {
    {
        Engine engine{folder};
        engine.configure();
        fill(engine, {}, kBacklog * kCap);
        // One heavy event fills a window as well as many light ones do.
        fill(engine, {.config = *ConfigName::make("narrow"), .weight = kCap / 2}, kBacklog);
        fill(engine, {.config = *ConfigName::make("weighted"), .weight = kCap - 2}, kBacklog);
    }
    settle(folder);
}

void measure(const std::string& folder, const Work& work, std::size_t batches) {
    settle(folder);
    Engine engine{folder};
    if (work.depth_min == 0) {
        engine.configure();
    }
    for (std::size_t i = 0; i < kWarmUp; ++i) {
        Engine::check(engine.store().execute(engine.commands(work, kBatch)), work);
    }
    Meter meter;
    for (std::size_t i = 0; i < batches; ++i) {
        const auto commands = engine.commands(work, kBatch);
        std::vector<SlotReply> replies;
        meter.time([&] { replies = engine.store().execute(commands); });
        Engine::check(replies, work);
    }
    meter.print(batches * kBatch);
}

// The bytes that the ledger writes for the same work.
class Records {
public:
    struct Row {
        rocks::SlotTable table;
        std::string key;
        std::string value;
    };

    std::vector<Row> batch() {
        std::vector<Row> rows;
        const WindowGrid grid{kWindow};
        const WindowIndex origin = grid.index_of(kRequested);
        const auto window_of = [origin](std::size_t slot) {
            return origin + static_cast<WindowIndex>(slot / kCap);
        };
        const std::size_t first = written_;
        for (; written_ < first + kBatch; ++written_) {
            const Instant start = grid.start_of(window_of(written_));
            const Slot slot{ids_.next(), ConfigId{1}, kRequested,          start, start + Duration{2371},
                            1,           {},          SlotState::Assigned, 0,     clock_.now()};
            rows.push_back({rocks::SlotTable::Slots, slot.event_id.text(), rocks::encode_slot(slot)});
        }
        for (WindowIndex window = window_of(first); window <= window_of(written_ - 1); ++window) {
            const auto before = static_cast<std::size_t>(window - origin) * kCap;
            const auto places = static_cast<Places>(std::min<std::size_t>(written_ - before, kCap));
            rows.push_back({rocks::SlotTable::Counts, rocks::count_key(PoolId{1}, window),
                            rocks::encode_content({places})});
        }
        return rows;
    }

private:
    SystemClock clock_;
    EventIds ids_{Engine::fresh_seed()};
    std::size_t written_ = 0;
};

void write(const rocks::Database& database, const rocks::SlotTableSet& set,
           const std::vector<Records::Row>& rows) {
    rocksdb::WriteBatch batch;
    for (const auto& row : rows) {
        batch.Put(set.table(database, row.table), row.key, row.value);
    }
    rocksdb::WriteOptions durable;
    durable.sync = true;
    if (const auto written = database.db().Write(durable, &batch); !written.ok()) {
        give_up(written.ToString());
    }
}

void measure_bare(const std::string& folder, std::size_t batches) {
    const auto set = std::make_shared<rocks::SlotTableSet>();
    const auto database = rocks::Database::open({folder}, {set});
    if (!database) {
        give_up(database.error().what);
    }
    Records records;
    for (std::size_t i = 0; i < kWarmUp; ++i) {
        write(**database, *set, records.batch());
    }
    Meter meter;
    for (std::size_t i = 0; i < batches; ++i) {
        const auto rows = records.batch();
        meter.time([&] { write(**database, *set, rows); });
    }
    meter.print(batches * kBatch);
}

int run(std::string_view mode, const std::string& folder, std::size_t slots) {
    constexpr auto kDeep = static_cast<std::int64_t>(kBacklog);
    const std::size_t batches = (slots + kBatch - 1) / kBatch;
    if (mode == "prefill") {
        prefill(folder);
    } else if (mode == "bare") {
        measure_bare(folder, batches);
    } else if (mode == "empty") {
        measure(folder, {}, batches);
    } else if (mode == "behind") {
        measure(folder, {.depth_min = kDeep}, batches);
    } else if (mode == "beside") {
        measure(folder, {.requested = kRequested + kElsewhere}, batches);
    } else if (mode == "lower-cap") {
        measure(folder, {.config = *ConfigName::make("narrow"), .depth_min = kDeep}, batches);
    } else if (mode == "weight") {
        measure(folder, {.config = *ConfigName::make("weighted"), .weight = 3, .depth_min = kDeep}, batches);
    } else {
        give_up("unknown mode '" + std::string{mode} + "'");
    }
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fputs(
            "usage: slot_engine_bench prefill|empty|bare|behind|beside|lower-cap|weight FOLDER [SLOTS]\n",
            stderr);
        return 2;
    }
    return sluice::bench::run(argv[1], argv[2], argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 200'000);
}
