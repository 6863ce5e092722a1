// Three nodes on one PostgreSQL, under load from 64 clients. The server is killed with -9 twice, and each
// node is; all of them come back on the same data.
// SLUICE_NODES_TEST_EVENTS says how many requests are made, SLUICE_NODES_TEST_SEED repeats a run's order.
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/postgres_fixture.hpp"
#include "support/slot_nodes.hpp"

namespace sluice::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kNodes = SlotNodes::kCount;
constexpr std::size_t kClients = 64;
constexpr std::chrono::seconds kPatience{180};  // For a part of the load to be answered.
constexpr std::string_view kConfig = R"({"configName":"default","maxPerWindow":100,"windowSize":"PT4S"})";

std::size_t number_from(const char* variable, std::size_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::stoul(text);
}

SlotNodes::Settings same_for_all(const Variables& variables) { return {variables, variables, variables}; }

// What is asked for, by the number of the request. Every twentieth repeats its neighbour, which another
// client has just sent to another node; every twentieth repeats one of long ago.
class Requests {
public:
    Requests(std::size_t count, std::uint32_t seed) : events_(count) {
        std::mt19937 random{seed};
        for (std::size_t i = 0; i < count; ++i) {
            events_[i] = i;
            if (i % 20 == 9) {
                events_[i] = events_[i - 1];
            } else if (i % 20 == 19) {
                events_[i] = events_[random() % i];
            }
        }
    }

    [[nodiscard]] std::size_t count() const { return events_.size(); }
    [[nodiscard]] std::string event(std::size_t number) const {
        return "pay-" + std::to_string(events_[number]);
    }
    // Four requested times, each in the middle of a window: the share of the first window counts too.
    [[nodiscard]] std::string text(std::size_t number) const {
        const std::size_t one = events_[number];
        return request_text("POST", "/api/v1/slots",
                            R"({"eventId":")" + event(number) + R"(","weight":)" +
                                (one % 7 == 0 ? "3" : "1") + R"(,"requestedTime":"2030-06-01T12:0)" +
                                std::to_string(one % 4) + R"(:01.500Z"})");
    }

private:
    std::vector<std::size_t> events_;
};

// What the clients have met so far. Thread safety: all of it.
class Record {
public:
    void answered(const std::string& event, const std::string& body) {
        const std::lock_guard lock{mutex_};
        const auto [known, fresh] = answers_.emplace(event, body);
        if (!fresh && known->second != body) {
            wrong_.push_back(known->second + " became " + body);
        }
        ++answered_;
        changed_.notify_one();
    }
    void refused() {
        const std::lock_guard lock{mutex_};
        ++refused_;
        changed_.notify_one();
    }
    void wrong(const std::string& what) {
        const std::lock_guard lock{mutex_};
        wrong_.push_back(what);
        changed_.notify_one();
    }

    // False when it took too long.
    bool wait_for_answers(std::size_t count) {
        return wait([this, count] { return answered_ >= count; });
    }
    // The same for refusals from now on.
    bool wait_for_refusals(std::size_t more) {
        return wait([this, until = refusals() + more] { return refused_ >= until; });
    }

    std::size_t refusals() {
        const std::lock_guard lock{mutex_};
        return refused_;
    }
    std::vector<std::string> complaints() {
        const std::lock_guard lock{mutex_};
        return wrong_;
    }
    // REQUIRES: no client runs.
    const std::map<std::string, std::string>& answers() const { return answers_; }

private:
    template <class Done>
    bool wait(Done done) {
        std::unique_lock lock{mutex_};
        changed_.wait_for(lock, kPatience, [&] { return done() || !wrong_.empty(); });
        return done();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, std::string> answers_;  // Guarded by mutex_. The first of each event.
    std::vector<std::string> wrong_;              // Guarded by mutex_.
    std::size_t answered_ = 0;                    // Guarded by mutex_.
    std::size_t refused_ = 0;                     // Guarded by mutex_. Also connections that were lost.
};

// One client: sends until there is an answer.
class Client {
public:
    Client(const SlotNodes& nodes, Record& record) : lines_{nodes}, record_{record} {}

    // To the next node whenever one refuses or is gone.
    void insist(const Requests& requests, std::size_t number, const std::stop_token& stop) {
        for (std::size_t node = number; !stop.stop_requested(); ++node) {
            const auto answer = lines_.attempt(node % kNodes, requests.text(number));
            if (answer && answer->status == 200) {
                record_.answered(requests.event(number), answer->body);
                return;
            }
            if (answer && (answer->status != 503 || answer->code() == "exhausted")) {
                record_.wrong(answer->body);
                return;
            }
            record_.refused();
            std::this_thread::sleep_for(milliseconds{20});  // As a client does that wants to be served.
        }
    }

private:
    NodeLines lines_;
    Record& record_;
};

// 64 clients that share the requests. Gone when they are all answered, or when this goes.
class Load {
public:
    Load(const Requests& requests, const SlotNodes& nodes, Record& record) {
        for (std::size_t i = 0; i < kClients; ++i) {
            clients_.emplace_back([&requests, &nodes, &record, this](const std::stop_token& stop) {
                Client client{nodes, record};
                for (std::size_t number = next_++; number < requests.count(); number = next_++) {
                    client.insist(requests, number, stop);
                }
            });
        }
    }
    void stop() {
        for (std::jthread& client : clients_) {
            client.request_stop();
        }
    }

private:
    std::atomic<std::size_t> next_ = 0;
    std::vector<std::jthread> clients_;  // Last: they use the above.
};

// One run: a way to assign, and everything that is killed.
class Trial {
public:
    Trial(const std::string& way, std::size_t count)
        : seed_{static_cast<std::uint32_t>(number_from("SLUICE_NODES_TEST_SEED", std::random_device{}()))},
          random_{seed_},
          requests_{count, seed_},
          nodes_{server_.dsn(), same_for_all({{"SLUICE_SLOTS_POSTGRES_MODE", way}})} {
        std::cout << "way " << way << ", seed " << seed_ << ", " << count << " requests\n" << std::flush;
    }

    void run() {
        ASSERT_EQ(call(nodes_.port(0), "POST", "/admin/rate-limit/config", kConfig).status, 200);
        const auto start = steady_clock::now();
        {
            Load load{requests_, nodes_, record_};
            kill_and_revive_all();
            if (testing::Test::HasFailure() || !record_.wait_for_answers(requests_.count())) {
                ADD_FAILURE() << "not every request was answered";
                load.stop();
            }
        }
        const auto took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
        std::cout << record_.answers().size() << " events after " << took.count() << " ms, "
                  << record_.refusals() << " refusals and lost connections\n";
        for (const std::string& complaint : record_.complaints()) {
            ADD_FAILURE() << complaint;
        }
        check_rows();
        ask_again();
        nodes_.stop_all();
    }

private:
    // Goes on when about this part of the requests was answered; the instant differs from run to run.
    void wait_for_part(std::size_t percent) {
        const std::size_t jitter = random_() % (requests_.count() / 50 + 1);
        EXPECT_TRUE(record_.wait_for_answers(requests_.count() * percent / 100 + jitter));
    }

    void kill_and_revive_all() {
        const std::size_t first = random_() % kNodes;
        const std::size_t second = (first + 1) % kNodes;
        const std::size_t third = (first + 2) % kNodes;

        wait_for_part(10);
        nodes_.kill(first);
        wait_for_part(20);  // The others serve meanwhile.
        nodes_.start(first);
        wait_for_part(35);
        server_.kill();
        EXPECT_TRUE(record_.wait_for_refusals(kClients));
        server_.revive();
        wait_for_part(50);
        nodes_.kill(second);
        nodes_.kill(third);
        nodes_.start(second);
        nodes_.start(third);
        wait_for_part(65);
        server_.kill();
        nodes_.kill(first);  // While it cannot know what became of its last commits.
        EXPECT_TRUE(record_.wait_for_refusals(kClients));
        server_.revive();
        nodes_.start(first);
        wait_for_part(80);
        nodes_.kill(second);
        nodes_.start(second);
    }

    void check_rows() {
        const auto connection = connect(server_.dsn());
        EXPECT_EQ(ask(*connection, "select count(*) from sluice.recount where counted <> recounted"), "0");
        EXPECT_EQ(ask(*connection, "select count(*) from sluice.recount where recounted > 100"), "0");
        // 2.5 of a window's 4 seconds are left at the requested times: 62 places.
        EXPECT_EQ(ask(*connection,
                      "select count(*) from (select from rl_event_slot_dtl where wndw_strt_ts < req_ts"
                      " group by wndw_strt_ts having sum(weight_ct) > 62) as overfull"),
                  "0");
        EXPECT_EQ(ask(*connection, "select count(*) from rl_event_slot_dtl where computed_sched_ts < req_ts"),
                  "0");
        // Written here, and not by the code that is being tested.
        const auto rows = connection->run_script(
            R"(select event_id, format('{"eventId":"%s","scheduledTime":"%s","delayMs":%s}', event_id,
                   to_char(computed_sched_ts, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                   (extract(epoch from computed_sched_ts - req_ts) * 1000)::bigint)
               from rl_event_slot_dtl)");
        ASSERT_TRUE(rows);
        EXPECT_EQ(rows->size(), record_.answers().size());
        for (std::size_t i = 0; i < rows->size(); ++i) {
            const auto known = record_.answers().find(std::string{rows->text(i, 0)});
            ASSERT_NE(known, record_.answers().end()) << rows->text(i, 1) << " was given to nobody";
            ASSERT_EQ(known->second, rows->text(i, 1)) << "the row is not what was acknowledged";
        }
    }

    // A hundred requests, of each node; the rows have been compared already.
    void ask_again() {
        for (std::size_t node = 0; node < kNodes; ++node) {
            RawHttp http{nodes_.port(node)};
            for (std::size_t number = node; number < requests_.count();
                 number += requests_.count() / 100 + 1) {
                http.send(requests_.text(number));
                ASSERT_EQ(http.read().value().body, record_.answers().at(requests_.event(number)));
            }
        }
    }

    const std::uint32_t seed_;
    std::mt19937 random_;
    const Requests requests_;
    OwnServer server_;
    SlotNodes nodes_;
    Record record_;
};

class PostgresNodes : public PostgresTest {};

TEST_F(PostgresNodes, KeepTheirWordInBatchesThroughKillsOfServerAndNodes) {
    Trial{"batch", number_from("SLUICE_NODES_TEST_EVENTS", 20'000)}.run();
}

TEST_F(PostgresNodes, KeepTheirWordByFunctionThroughKillsOfServerAndNodes) {
    Trial{"function", number_from("SLUICE_NODES_TEST_EVENTS", 20'000) / 5}.run();
}

// What is wrong is neither a lost connection nor a lock, which others report.
TEST_F(PostgresNodes, TellTheLogWhyTheyAreUnavailable) {
    for (const std::string way : {"batch", "function"}) {
        CliServer server{{"--store", dsn(), "--log-level", "warn"}, {{"SLUICE_SLOTS_POSTGRES_MODE", way}}};
        ASSERT_EQ(call(server.port(), "POST", "/admin/rate-limit/config", kConfig).status, 200);
        const std::string broken = way == "batch" ? "store_slots" : "take_slot";
        ask(*connect(), "alter function sluice." + broken + " rename to away");

        const auto answer = call(server.port(), "POST", "/api/v1/slots",
                                 R"({"eventId":"pay-1","requestedTime":"2030-06-01T12:00:00Z"})");

        EXPECT_EQ(answer.code(), "store_unavailable");
        EXPECT_TRUE(server.process().wait_for_error_text("PostgresSlotStore - function sluice." + broken));
        ask(*connect(), "alter function sluice.away rename to " + broken);
    }
}

}  // namespace
}  // namespace sluice::test
