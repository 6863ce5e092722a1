// What dispatch from PostgreSQL is measured by: workers that each claim one event in a transaction, make its
// call, and note its outcome in another, as a queue in a table usually does.
//
//   claim_one_by_one DSN PORT CALLS [WORKERS]   makes its own table, anew, with CALLS events that are due
//
// Prints one figure a line, as bench_report reads them.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <libpq-fe.h>

#include "net/http_client.hpp"

namespace sluice::bench {
namespace {

namespace asio = boost::asio;

constexpr const char* kTable =
    "drop table if exists one_by_one;"
    "create table one_by_one (event_id text primary key, due_ts timestamptz not null, state_cd smallint not "
    "null"
    " default 1, payload bytea not null, lease_ts timestamptz, status_no integer) with (fillfactor = 60);"
    "create index on one_by_one (due_ts) where state_cd = 1";
constexpr const char* kFill =
    "insert into one_by_one (event_id, due_ts, payload) select 'event-' || md5(i::text), now(),"
    " '{\"amount\": 12.50, \"currency\": \"EUR\", \"to\": \"DE00 0000 0000\"}'"
    " from generate_series(1, $1::integer) i";
constexpr const char* kClaim =
    "update one_by_one set state_cd = 2, lease_ts = now() + interval '20 s' where event_id ="
    " (select event_id from one_by_one where state_cd = 1 and due_ts <= now() order by due_ts"
    " for update skip locked limit 1) returning event_id, payload";
constexpr const char* kSettle = "update one_by_one set state_cd = 3, status_no = 200 where event_id = $1";

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "claim_one_by_one: %s\n", why.c_str());
    std::exit(1);
}

using Answer = std::unique_ptr<PGresult, decltype(&PQclear)>;

// One session.
class Session {
public:
    explicit Session(const std::string& dsn) : connection_{PQconnectdb(dsn.c_str()), &PQfinish} {
        if (PQstatus(connection_.get()) != CONNECTION_OK) {
            give_up(PQerrorMessage(connection_.get()));
        }
    }
    void script(const char* text) { check(Answer{PQexec(connection_.get(), text), &PQclear}); }
    void prepare(const char* name, const char* text) {
        check(Answer{PQprepare(connection_.get(), name, text, 0, nullptr), &PQclear});
    }
    Answer run(const char* name, const std::string* parameter) {
        const char* const value = parameter == nullptr ? nullptr : parameter->c_str();
        const int count = parameter == nullptr ? 0 : 1;
        return check(
            Answer{PQexecPrepared(connection_.get(), name, count, &value, nullptr, nullptr, 0), &PQclear});
    }

private:
    Answer check(Answer answer) {
        const ExecStatusType status = PQresultStatus(answer.get());
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
            give_up(PQerrorMessage(connection_.get()));
        }
        return answer;
    }

    std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

// Claims, calls and settles until nothing is due.
class Worker {
public:
    Worker(const std::string& dsn, std::uint16_t port, std::atomic<std::size_t>& done)
        : session_{dsn}, port_{port}, done_{done} {
        session_.prepare("claim", kClaim);
        session_.prepare("settle", kSettle);
    }

    void run() {
        for (;;) {
            const Answer claimed = session_.run("claim", nullptr);
            if (PQntuples(claimed.get()) == 0) {
                return;
            }
            const std::string event = PQgetvalue(claimed.get(), 0, 0);
            asio::co_spawn(io_, call(event), asio::detached);
            io_.run();
            io_.restart();
            session_.run("settle", &event);
            done_.fetch_add(1, std::memory_order_relaxed);  // Read after the threads have ended.
        }
    }

private:
    asio::awaitable<void> call(std::string event) {
        // All of it named: GCC 12 destroys some temporaries of a co_await twice.
        net::ServerUrl server{{"127.0.0.1", port_}};
        net::HttpRequest request;
        request.method = "POST";
        request.target = "/";
        request.body = R"({"amount": 12.50, "currency": "EUR", "to": "DE00 0000 0000"})";
        request.headers.emplace_back("Content-Type", "application/json");
        request.headers.emplace_back("Idempotency-Key", event);
        const auto outcome =
            co_await client_.send(std::move(server), std::move(request), std::chrono::seconds{15});
        if (!outcome || outcome->status != 200) {
            give_up(outcome ? "an answer that is not 200" : outcome.error().sentence);
        }
    }

    Session session_;
    const std::uint16_t port_;
    std::atomic<std::size_t>& done_;
    asio::io_context io_{1};
    net::HttpClient client_{{.idle_max = 1}};
};

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void run(const std::string& dsn, std::uint16_t port, const std::string& calls, std::size_t count) {
    Session session{dsn};
    session.script(kTable);
    session.prepare("fill", kFill);
    session.run("fill", &calls);
    session.script("vacuum analyze one_by_one");
    std::atomic<std::size_t> done{0};
    std::vector<std::unique_ptr<Worker>> workers;
    workers.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        workers.push_back(std::make_unique<Worker>(dsn, port, done));
    }
    const double cpu = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    {
        std::vector<std::jthread> threads;
        threads.reserve(count);
        for (const auto& worker : workers) {
            threads.emplace_back([&worker] { worker->run(); });
        }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const auto made = static_cast<double>(done.load());
    if (std::to_string(done.load()) != calls) {
        give_up("it made " + std::to_string(done.load()) + " calls");
    }
    std::printf("rate %.1f\ncpu_us %.3f\n", made / took.count(), (cpu_seconds() - cpu) * 1e6 / made);
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** words) {
    if (count != 4 && count != 5) {
        std::fprintf(stderr, "claim_one_by_one DSN PORT CALLS [WORKERS]\n");
        return 2;
    }
    sluice::bench::run(words[1], static_cast<std::uint16_t>(std::strtoul(words[2], nullptr, 10)), words[3],
                       count == 5 ? std::strtoul(words[4], nullptr, 10) : 16);
    return 0;
}
