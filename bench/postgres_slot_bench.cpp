// How many slots a second does the PostgreSQL store assign in batches, without any door in front of it?
// Budget: at least 8 times the peer "seed" on the same server, 40 times behind a backlog, and no slower there
// than on empty tables.
//
//   postgres_slot_bench configure DSN                 makes the schema and the configs of the modes below
//   postgres_slot_bench assign DSN SLOTS [OPTION...]  assigns SLOTS slots in batches of 256, prints the
//   figures
//
// Options: config=NAME (default), weight=N (1), nodes=N (1), workers=N of each node (4), day=N: asks for a
// time so many days after the usual one (0), depth=N: no slot may be nearer than this many windows, or the
// backlog is not there.
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include <unistd.h>

#include "silent_world.hpp"
#include "slot_work.hpp"
#include "store/postgres/slots/postgres_slot_store.hpp"

namespace sluice::bench {
namespace {

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "postgres_slot_bench: %s\n", why.c_str());
    std::exit(1);
}

class NoPoolMetrics final : public postgres::PoolMetrics {
public:
    void waited(std::chrono::nanoseconds) override {}
};

std::uint64_t fresh_seed() {
    static std::atomic<std::uint64_t> calls{0};
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    return static_cast<std::uint64_t>(now) ^ (static_cast<std::uint64_t>(getpid()) << 40U) ^
           (calls.fetch_add(1) << 56U);
}

// One node: a store with its own connections and its own memory.
class Node {
public:
    explicit Node(const std::string& dsn) {
        postgres::PoolSettings pool;
        pool.connect.dsn = dsn;
        PostgresSlotOptions options;
        options.ledger.seed = fresh_seed();
        auto server =
            postgres::Server::open(pool, postgres::SchemaCare::Migrate, {log_, pool_metrics_, *runtime_});
        if (!server) {
            give_up(server.error());
        }
        auto opened = open_postgres_slot_store(std::move(*server), options, {clock_, metrics_, log_});
        if (!opened) {
            give_up(opened.error());
        }
        store_ = std::move(*opened);
    }

    SlotStore& store() { return *store_; }

    void configure(std::string_view name, Places cap, std::string_view pool) {
        const auto put = store_->put_config({*ConfigName::make(name), cap, kWindow, *PoolName::make(pool)});
        if (!put) {
            give_up("no config: " + put.error().detail);
        }
    }

private:
    SystemClock clock_;
    NoMetrics metrics_;
    NoPoolMetrics pool_metrics_;
    TroubleLog log_;
    const std::unique_ptr<Runtime> runtime_ = make_machine_runtime();
    std::unique_ptr<PostgresSlotStore> store_;
};

struct Work {
    ConfigName config = *ConfigName::make("default");
    Places weight = 1;
    std::size_t nodes = 1;
    std::size_t workers = 4;
    Instant requested = kRequested;
    std::int64_t depth = 0;
};

// A reply that is not a new slot ends the program: nothing of it would be comparable.
void check(const std::vector<SlotReply>& replies, const Work& work) {
    for (const SlotReply& reply : replies) {
        const auto& outcome = std::get<SlotOutcome>(reply);
        if (!outcome) {
            give_up("no slot: " + outcome.error().detail);
        }
        if (outcome->repeated || outcome->depth < work.depth) {
            give_up("a slot is not new, or not behind the backlog; was the database filled?");
        }
    }
}

// Takes batches until none is left.
void run_worker(SlotStore& store, const Work& work, std::atomic<std::int64_t>& batches,
                std::vector<double>& took_us) {
    EventIds ids{fresh_seed()};
    while (batches.fetch_sub(1) > 0) {
        std::vector<SlotCommand> commands;
        for (std::size_t i = 0; i < kBatch; ++i) {
            commands.emplace_back(AssignSlot{ids.next(), work.config, SlotAsk{work.requested, work.weight}});
        }
        const auto start = std::chrono::steady_clock::now();
        check(store.execute(commands), work);
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
        took_us.push_back(took.count());
    }
}

// Seconds that all workers of all nodes took for that many batches.
double run_all(std::vector<std::unique_ptr<Node>>& nodes, const Work& work, std::int64_t batches,
               std::vector<double>& took_us) {
    std::atomic<std::int64_t> left{batches};
    std::vector<std::vector<double>> took(nodes.size() * work.workers);
    const auto start = std::chrono::steady_clock::now();
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < took.size(); ++i) {
            threads.emplace_back(
                [&, i] { run_worker(nodes[i % nodes.size()]->store(), work, left, took[i]); });
        }
    }
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    for (const auto& part : took) {
        took_us.insert(took_us.end(), part.begin(), part.end());
    }
    return wall.count();
}

void assign(const std::string& dsn, std::size_t slots, const Work& work) {
    std::vector<std::unique_ptr<Node>> nodes;
    for (std::size_t i = 0; i < work.nodes; ++i) {
        nodes.push_back(std::make_unique<Node>(dsn));
    }
    std::vector<double> ignored;
    run_all(nodes, work, static_cast<std::int64_t>(4 * work.workers), ignored);
    const auto batches = static_cast<std::int64_t>((slots + kBatch - 1) / kBatch);
    std::vector<double> took_us;
    const double wall = run_all(nodes, work, batches, took_us);
    std::sort(took_us.begin(), took_us.end());
    const auto at = [&](double share) {
        return took_us[static_cast<std::size_t>(share * static_cast<double>(took_us.size() - 1))];
    };
    std::printf("rate %.1f\np50_us %.1f\np99_us %.1f\n",
                static_cast<double>(batches) * static_cast<double>(kBatch) / wall, at(0.5), at(0.99));
}

Work parse(int argc, char** argv) {
    std::map<std::string, std::string> given;
    for (int i = 4; i < argc; ++i) {
        const std::string word = argv[i];
        given[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    }
    const auto number = [&](const char* name, std::size_t fallback) {
        return given.contains(name) ? std::stoul(given[name]) : fallback;
    };
    Work work;
    if (given.contains("config")) {
        work.config = *ConfigName::make(given["config"]);
    }
    work.weight = static_cast<Places>(number("weight", 1));
    work.nodes = number("nodes", 1);
    work.workers = number("workers", 4);
    work.requested += std::chrono::days{number("day", 0)};
    work.depth = static_cast<std::int64_t>(number("depth", 0));
    return work;
}

int run(int argc, char** argv) {
    const std::string mode = argc > 2 ? argv[1] : "";
    if (mode == "configure") {
        Node node{argv[2]};
        node.configure("default", kCap, "default");
        node.configure("wide", kCap, "shared");
        node.configure("narrow", kCap / 2, "shared");
        node.configure("weighted", kCap, "weighted");
        for (const char* windows : {"1000", "10000", "100000", "1000000"}) {
            const std::string name = std::string{"scale-"} + windows;
            node.configure(name, kCap, name);
        }
        return 0;
    }
    if (mode == "assign" && argc > 3) {
        assign(argv[2], std::strtoull(argv[3], nullptr, 10), parse(argc, argv));
        return 0;
    }
    std::fputs("usage: postgres_slot_bench configure DSN | assign DSN SLOTS [option=value...]\n", stderr);
    return 2;
}

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) { return sluice::bench::run(argc, argv); }
