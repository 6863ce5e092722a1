// How quickly works go out to a webhook on this machine, beside a client that only makes the calls.
//
//   dispatch_bench bare PORT CALLS                      a keep-alive client, the same library, no store
//   dispatch_bench embedded FOLDER PORT CALLS PENDING   the embedded store with PENDING more works, for later
//   dispatch_bench paced FOLDER PORT CALLS RATE         works that become due at this rate: how late they are
//   dispatch_bench postgres DSN PORT CALLS PENDING      like `embedded`, from an empty database
//
// Prints one figure a line, as bench_report reads them.
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <random>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "app/dispatch/dispatcher.hpp"
#include "app/slots/slot_ledger.hpp"
#include "carry/webhook/webhook_carrier.hpp"
#include "net/http_client.hpp"
#include "silent_world.hpp"
#include "slot_work.hpp"
#include "store/postgres/slots/postgres_slot_store.hpp"
#include "store/postgres/work/postgres_work_store.hpp"
#include "store/rocks/slots/rocks_slot_tables.hpp"
#include "store/rocks/work/rocks_work_tables.hpp"

namespace sluice::bench {
namespace {

namespace asio = boost::asio;
using SteadyClock = std::chrono::steady_clock;

constexpr std::string_view kPayload = R"({"amount": 12.50, "currency": "EUR", "to": "DE00 0000 0000"})";
constexpr std::size_t kConnections = 64;

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "dispatch_bench: %s\n", why.c_str());
    std::exit(1);
}

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// From now on, in time and in what the process computes.
class Stopwatch {
public:
    void print(std::size_t calls) const {
        const std::chrono::duration<double> took = SteadyClock::now() - start_;
        const auto count = static_cast<double>(calls);
        std::printf("rate %.1f\ncpu_us %.3f\n", count / took.count(), (cpu_seconds() - cpu_) * 1e6 / count);
    }

private:
    SteadyClock::time_point start_ = SteadyClock::now();
    double cpu_ = cpu_seconds();
};

asio::awaitable<void> call_again(net::HttpClient& client, std::uint16_t port, std::size_t& left) {
    while (left > 0) {
        --left;
        // All of it named: GCC 12 destroys some temporaries of a co_await twice.
        net::ServerUrl server{{"127.0.0.1", port}};
        net::HttpRequest request;
        request.method = "POST";
        request.target = "/";
        request.body = kPayload;
        request.headers.emplace_back("Content-Type", "application/json");
        const auto outcome =
            co_await client.send(std::move(server), std::move(request), std::chrono::seconds{15});
        if (!outcome || outcome->status != 200) {
            give_up(outcome ? "an answer that is not 200" : outcome.error().sentence);
        }
    }
}

void run_bare(std::uint16_t port, std::size_t calls) {
    asio::io_context io{1};
    net::HttpClient client{{.idle_max = kConnections}};
    std::size_t left = calls;
    for (std::size_t i = 0; i < kConnections; ++i) {
        asio::co_spawn(io, call_again(client, port, left), asio::detached);
    }
    const Stopwatch watch;
    io.run();
    watch.print(calls);
}

class NoPoolMetrics final : public postgres::PoolMetrics {
public:
    void waited(std::chrono::nanoseconds) override {}
};

// Counts what arrived, and how late it began.
class Counting final : public DispatchMetrics {
public:
    void began(TargetKind /*target*/, Duration lateness) override {
        const std::lock_guard lock{mutex_};
        lateness_ms_.push_back(static_cast<double>(lateness.count()));
    }
    void sent(TargetKind /*target*/) override {
        const std::lock_guard lock{mutex_};
        if (++sent_ == awaited_) {  // Once: whoever waits would be woken for each call, and be measured.
            changed_.notify_all();
        }
    }
    void retried(TargetKind /*target*/) override { give_up("a call failed"); }
    void died(TargetKind /*target*/) override { give_up("a work died"); }
    void lost(TargetKind /*target*/) override { give_up("a claim was lost"); }
    void store_failed() override { give_up("the store failed"); }
    void became_keeper() override {}
    void lost_keeper() override {}

    void wait_for(std::size_t count) {
        std::unique_lock lock{mutex_};
        awaited_ = count;
        changed_.wait(lock, [&] { return sent_ >= count; });
    }
    void print_lateness() {
        const std::lock_guard lock{mutex_};
        std::sort(lateness_ms_.begin(), lateness_ms_.end());
        const auto at = [this](double share) {
            return 1e3 * lateness_ms_[static_cast<std::size_t>(share *
                                                               static_cast<double>(lateness_ms_.size() - 1))];
        };
        std::printf("p50_us %.1f\np99_us %.1f\n", at(0.50), at(0.99));
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t sent_ = 0;             // Guarded by mutex_.
    std::size_t awaited_ = 0;          // Guarded by mutex_.
    std::vector<double> lateness_ms_;  // Guarded by mutex_.
};

// What stores live in.
struct Surroundings {
    SystemClock clock;
    NoMetrics metrics;
    NoPoolMetrics pool_metrics;
    TroubleLog log;
    const std::unique_ptr<Runtime> runtime = make_machine_runtime();
};

std::unique_ptr<SlotStore> open_folder(const std::string& folder, Surroundings& around) {
    std::filesystem::remove_all(folder);
    const auto slots = std::make_shared<rocks::SlotTableSet>();
    const auto works = std::make_shared<rocks::WorkTableSet>(slots->shared_horizon());
    const auto opened = rocks::Folder::open({.path = folder, .log = &around.log}, {slots, works});
    if (!opened) {
        give_up(opened.error().what);
    }
    return make_slot_ledger(make_rocks_slot_tables(*opened, slots, make_rocks_work_tables(*opened, works)),
                            {}, {around.clock, around.metrics, around.log});
}

std::unique_ptr<SlotStore> open_postgres(const std::string& dsn, Surroundings& around) {
    postgres::PoolSettings pool;
    pool.connect.dsn = dsn;
    auto server = postgres::Server::open(pool, postgres::SchemaCare::Migrate,
                                         {around.log, around.pool_metrics, *around.runtime});
    if (!server) {
        give_up(server.error());
    }
    const auto route_nothing = [](const Target&) -> Result<Route, std::string> {
        return Unexpected{std::string{"nothing comes by SQL"}};
    };
    auto opened = open_postgres_slot_store(*server, {}, {around.clock, around.metrics, around.log},
                                           make_postgres_work_store(*server, route_nothing, around.log));
    if (!opened) {
        give_up(opened.error());
    }
    return *std::move(opened);
}

// A store, a carrier, and works for them.
class Bench {
public:
    using Open = std::unique_ptr<SlotStore> (*)(const std::string&, Surroundings&);
    Bench(Open open, const std::string& where, std::uint16_t port)
        : url_{"http://127.0.0.1:" + std::to_string(port) + "/"}, store_{open(where, around_)} {
        ConfigDraft draft{*ConfigName::make("default"), kMaxPerWindowLimit, kWindow,
                          *PoolName::make("default")};
        if (const auto put = store_->put_config(draft); !put) {
            give_up(put.error().detail);
        }
        WebhookOptions options;
        options.allow_loopback = true;
        options.read_file = [](const std::string&) -> Result<std::string, std::string> {
            return Unexpected{std::string{"there are no files"}};
        };
        auto webhooks = open_webhook_carrier(std::move(options), around_.log, around_.clock);
        if (!webhooks) {
            give_up(webhooks.error());
        }
        const Target target{TargetKind::Webhook, url_};
        const auto route = (*webhooks)->route(target);
        if (!route) {
            give_up(route.error().detail);
        }
        order_ = std::make_shared<WorkOrder>(WorkOrder{target, *route, std::string{kPayload}});
        carriers_.add(TargetKind::Webhook, std::move(*webhooks));
    }
    ~Bench() { carriers_.stop(); }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    // Works that are due at these times, one for each.
    template <class TimeOf>
    void hand_over(std::size_t count, TimeOf time_of) {
        for (std::size_t done = 0; done < count;) {
            AssignEach group;
            for (; group.events.size() < kBatch && done < count; ++done) {
                AssignSlot event{ids_.next(), *ConfigName::make("default"), SlotAsk{time_of(done)}};
                event.ask.max_delay = Duration{1};
                event.work = order_;
                group.events.push_back(std::move(event));
            }
            const SlotCommand command{std::move(group)};
            const auto replies = store_->execute({&command, 1});
            for (const SlotOutcome& outcome : std::get<EachOutcome>(replies.front())) {
                if (!outcome) {
                    give_up(outcome.error().detail);
                }
            }
        }
    }

    Dispatcher start() {
        return Dispatcher{
            {.node = "bench", .seed = 1},
            {*store_->work(), around_.clock, carriers_, counting_, around_.log, *around_.runtime}};
    }

    Counting& counting() { return counting_; }
    [[nodiscard]] Instant now() const { return around_.clock.now(); }

private:
    const std::string url_;
    Surroundings around_;
    EventIds ids_{std::random_device{}()};
    const std::unique_ptr<SlotStore> store_;
    Carriers carriers_;
    std::shared_ptr<const WorkOrder> order_;
    Counting counting_;
};

void run_all(Bench& bench, std::size_t calls, std::size_t pending) {
    const Instant later = bench.now() + std::chrono::days{30};
    bench.hand_over(pending, [&](std::size_t i) { return later + Duration{static_cast<int>(i)}; });
    const Instant now = bench.now();
    bench.hand_over(calls, [&](std::size_t) { return now; });
    const Stopwatch watch;
    auto dispatcher = bench.start();
    bench.counting().wait_for(calls);
    watch.print(calls);
    dispatcher.stop();
}

void run_paced(const std::string& folder, std::uint16_t port, std::size_t calls, std::size_t rate) {
    Bench bench{open_folder, folder, port};
    const Instant first = bench.now() + std::chrono::seconds{3};
    bench.hand_over(calls,
                    [&](std::size_t i) { return first + Duration{static_cast<int>(i * 1000 / rate)}; });
    auto dispatcher = bench.start();
    bench.counting().wait_for(calls);
    bench.counting().print_lateness();
    dispatcher.stop();
}

int run(int count, char** words) {
    const auto is = [&](const char* name, int wanted) {
        return count == wanted && std::strcmp(words[1], name) == 0;
    };
    const auto number = [&](int at) { return std::strtoull(words[at], nullptr, 10); };
    if (is("bare", 4)) {
        run_bare(static_cast<std::uint16_t>(number(2)), number(3));
        return 0;
    }
    if (is("embedded", 6)) {
        Bench bench{open_folder, words[2], static_cast<std::uint16_t>(number(3))};
        run_all(bench, number(4), number(5));
        return 0;
    }
    if (is("postgres", 6)) {
        Bench bench{open_postgres, words[2], static_cast<std::uint16_t>(number(3))};
        run_all(bench, number(4), number(5));
        return 0;
    }
    if (is("paced", 6)) {
        run_paced(words[2], static_cast<std::uint16_t>(number(3)), number(4), number(5));
        return 0;
    }
    std::fprintf(stderr,
                 "dispatch_bench bare PORT CALLS | embedded FOLDER PORT CALLS PENDING |"
                 " paced FOLDER PORT CALLS RATE | postgres DSN PORT CALLS PENDING\n");
    return 2;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** words) { return sluice::bench::run(count, words); }
