// Three nodes on one PostgreSQL, in both ways, one with a clock that is a month ahead, and applications that
// take slots in transactions of their own, while sessions and nodes are killed, caps go up and down and old
// windows are swept. At the end every answer that anybody got is compared with what is stored, and every node
// has to find the earliest window with room again. SLUICE_CHAOS_SECONDS says how long it goes on,
// SLUICE_CHAOS_SEED repeats what every actor draws.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "base/iso8601.hpp"
#include "core/slots/window_grid.hpp"
#include "support/chaos_actors.hpp"
#include "support/postgres_fixture.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr std::size_t kHttpActors = 12;
constexpr std::size_t kSqlActors = 4;
constexpr Duration kWindow = 1s;
// An answer may wait for its turn (5 s) and for others' locks (2 s); a machine that is busy adds to it.
constexpr auto kSlowestAnswer = 10s;
constexpr const char* kFakeTime = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

std::uint32_t number_from(const char* variable, std::uint32_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : static_cast<std::uint32_t>(std::stoul(text));
}

constexpr std::size_t kNodeAhead = 2;
SlotNodes::Settings settings_of_nodes() {
    const Variables batch{{"SLUICE_SLOTS_POSTGRES_MODE", "batch"}, {"SLUICE_SLOTS_RETENTION", "P7D"}};
    Variables function = batch;
    function["SLUICE_SLOTS_POSTGRES_MODE"] = "function";
    Variables ahead = batch;
    ahead["LD_PRELOAD"] = kFakeTime;
    ahead["FAKETIME"] = "+30d";
    ahead["FAKETIME_DONT_FAKE_MONOTONIC"] = "1";
    return {batch, function, ahead};
}

Instant now_in_whole_seconds() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

class Trial {
public:
    explicit Trial(std::chrono::seconds time)
        : seed_{number_from("SLUICE_CHAOS_SEED", std::random_device{}())},
          random_{seed_},
          time_{time},
          times_{now_in_whole_seconds()},
          nodes_{server_.dsn(), settings_of_nodes()},
          operator_{connect(server_.dsn())} {
        std::cout << "seed " << seed_ << ", " << time.count() << " s\n" << std::flush;
    }

    void run() {
        ASSERT_EQ(put_config(0, "default", 8), 200);
        ASSERT_EQ(put_config(0, "other", 6), 200);
        ASSERT_EQ(put_config(0, "ancient", 100), 200);
        {
            const auto actors = start_actors();
            disturb();
        }
        for (const std::string& complaint : testimony_.complaints()) {
            ADD_FAILURE() << complaint;
        }
        EXPECT_LE(testimony_.slowest(), kSlowestAnswer);
        EXPECT_GE(changes_ * 2, changes_tried_) << "config changes fail";
        std::cout << testimony_.promises().size() << " events, slowest answer "
                  << testimony_.slowest().count() << " ms, " << changes_ << " of " << changes_tried_
                  << " config changes, " << killed_ << " kills\n";
        check_counters();
        check_promises();
        std::this_thread::sleep_for(5s);  // The promise: after five seconds of quiet.
        check_earliest();
        check_counters();
        nodes_.stop_all();
    }

private:
    template <class Actor>
    std::jthread start(std::unique_ptr<Actor> actor) {
        return std::jthread{[this, actor = std::move(actor)](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                actor->step(testimony_);
            }
            actor->testify(testimony_);
        }};
    }

    std::vector<std::jthread> start_actors() {
        std::vector<std::jthread> actors;
        for (std::size_t i = 0; i < kHttpActors; ++i) {
            actors.push_back(
                start(std::make_unique<HttpActor>("http" + std::to_string(i), random_(), nodes_, times_)));
        }
        for (std::size_t i = 0; i < kSqlActors; ++i) {
            actors.push_back(start(
                std::make_unique<SqlActor>("sql" + std::to_string(i), random_(), server_.dsn(), times_)));
        }
        return actors;
    }

    int put_config(std::size_t node, const std::string& name, std::size_t cap) {
        NodeLines lines{nodes_};
        const std::string pool = name == "other" ? "default" : name;
        const auto answer = lines.attempt(
            node, request_text("POST", "/admin/rate-limit/config",
                               R"({"configName":")" + name + R"(","maxPerWindow":)" + std::to_string(cap) +
                                   R"(,"windowSize":"PT1S","pool":")" + pool + R"("})"));
        return answer ? answer->status : 0;
    }

    void change_a_cap() {
        const int status = put_config(random_() % SlotNodes::kCount, random_() % 2 == 0 ? "default" : "other",
                                      4 + random_() % 9);
        ++changes_tried_;
        changes_ += status == 200 ? 1 : 0;
        EXPECT_TRUE(status == 200 || status == 503) << status;
    }

    void kill_sessions() {
        ask(*operator_,
            "select count(pg_terminate_backend(pid)) from (select pid from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
            " order by random() limit 3) as victims");
        killed_ += 3;
    }

    void kill_node(std::size_t node) {
        nodes_.kill(node);
        nodes_.start(node);
        ++killed_;
    }

    void disturb() {
        const auto end = steady_clock::now() + time_;
        disturb_until(end - time_ / 4);
        kill_node(kNodeAhead);  // It tidies up when it starts, by a clock that it must not believe.
        disturb_until(end);
    }

    void disturb_until(steady_clock::time_point end) {
        while (steady_clock::now() < end && testimony_.content()) {
            const auto dice = random_() % 10;
            if (dice < 5) {
                kill_sessions();
            } else if (dice < 9) {
                change_a_cap();
            } else {
                kill_node(random_() % SlotNodes::kCount);
            }
            // The rhythm of the faults.
            std::this_thread::sleep_for(std::chrono::milliseconds{random_() % 600});
        }
    }

    void expect_none(const std::string& what, const std::string& query) {
        EXPECT_EQ(ask(*operator_, "select count(*) from (" + query + ") as found"), "0") << what;
    }

    void check_counters() {
        expect_none("counters differ from a recount",
                    "select from sluice.recount where counted <> recounted");
        expect_none("bounds of chunks are above a counter", kWindowsBelowTheirBounds);
        expect_none("before the requested time",
                    "select from rl_event_slot_dtl where computed_sched_ts < req_ts");
        // A window is locked from before a row is written until its commit, so the rows of other transactions
        // that were written before were there already. Those that moved or were cancelled are left out.
        expect_none(
            "above the cap in force when a place was taken",
            "select from (select sum(places) over (partition by pool_nm, wndw_strt_ts order by since"
            " rows between unbounded preceding and 1 preceding) as held, largest"
            " from (select d.pool_nm, d.wndw_strt_ts, min(d.creat_ts) as since, sum(d.weight_ct) as places,"
            " max(d.weight_ct - c.wndw_max_event_ct) as largest from rl_event_slot_dtl d"
            " join rl_event_wndw_config c on c.rl_wndw_config_id = d.rl_wndw_config_id"
            " where d.revision_no = 0 and d.slot_state_cd = 1"
            " group by d.pool_nm, d.wndw_strt_ts, d.xmin::text) as writers) as placed"
            " where held + largest > 0");
        expect_none("above every cap that was ever in force",
                    "select from sluice.recount r where r.recounted > (select max(c.wndw_max_event_ct)"
                    " from rl_event_wndw_config c where c.pool_nm = r.pool)");
    }

    void check_promises() {
        const auto rows = operator_->run_script(
            "select event_id, slot_state_cd, " +
            answer_sql("event_id", "computed_sched_ts",
                       "(extract(epoch from computed_sched_ts - req_ts) * 1000)::bigint") +
            " from rl_event_slot_dtl where pool_nm = 'default'");
        ASSERT_TRUE(rows);
        std::map<std::string, Promise, std::less<>> stored;
        for (std::size_t i = 0; i < rows->size(); ++i) {
            const bool assigned = rows->text(i, 1) == "1";
            stored[std::string{rows->text(i, 0)}] = {
                assigned ? Promise::Kind::Assigned : Promise::Kind::Cancelled,
                assigned ? std::string{rows->text(i, 2)} : ""};
        }
        for (const auto& [event, promise] : testimony_.promises()) {
            const auto row = stored.find(event);
            const Promise found = row == stored.end() ? Promise{} : row->second;
            if (promise.kind != Promise::Kind::Uncertain) {
                ASSERT_EQ(found.kind, promise.kind)
                    << event << ": " << promise.answer << ", stored " << found.answer;
                ASSERT_EQ(found.answer, promise.answer);
            }
        }
        for (const auto& [event, row] : stored) {
            ASSERT_TRUE(testimony_.promises().contains(event)) << row.answer << " was given to nobody";
        }
    }

    // The earliest window with room for one place of config "default", by the rows alone.
    WindowIndex earliest(Instant requested) {
        const auto cap = std::stoll(ask(*operator_,
                                        "select wndw_max_event_ct from rl_event_wndw_config"
                                        " where wndw_config_nm = 'default' and act_in = 1"));
        const auto rows = operator_->run_script(
            "select sluice.to_ms(wndw_strt_ts), slot_ct from rl_wndw_ct where pool_nm = 'default'");
        const WindowGrid grid{kWindow};
        std::map<WindowIndex, std::int64_t> counts;
        for (std::size_t i = 0; i < rows.value().size(); ++i) {
            counts[grid.index_of(Instant{Duration{rows->number(i, 0).value()}})] = rows->number(i, 1).value();
        }
        const WindowIndex first = grid.index_of(requested);
        const auto elapsed = requested - grid.start_of(first);
        if (counts[first] < cap * (kWindow - elapsed).count() / kWindow.count()) {
            return first;
        }
        WindowIndex window = first + 1;
        while (counts[window] >= cap) {
            ++window;
        }
        return window;
    }

    void check_earliest() {
        NodeLines lines{nodes_};
        std::size_t asked = 0;
        for (std::size_t turn = 0; turn < 3 * SlotNodes::kCount; ++turn) {
            for (const Instant requested : times_.all()) {
                const WindowIndex expected = earliest(requested);
                const auto answer = lines.attempt(
                    turn % SlotNodes::kCount,
                    request_text("POST", "/api/v1/slots",
                                 R"({"eventId":"quiet-)" + std::to_string(++asked) +
                                     R"(","requestedTime":")" + format_instant(requested) + R"("})"));
                ASSERT_TRUE(answer && answer->status == 200) << (answer ? answer->body : "no answer");
                const auto start = answer->body.find(R"("scheduledTime":")") + 17;
                const Instant scheduled = parse_instant(answer->body.substr(start, 24)).value();
                EXPECT_EQ(WindowGrid{kWindow}.index_of(scheduled) - expected, 0)
                    << "node " << turn % SlotNodes::kCount << ", requested " << format_instant(requested)
                    << ": " << answer->body;
            }
        }
    }

    const std::uint32_t seed_;
    std::mt19937 random_;
    const std::chrono::seconds time_;
    const RequestedTimes times_;
    OwnServer server_;
    SlotNodes nodes_;
    std::unique_ptr<postgres::Connection> operator_;
    Testimony testimony_;
    std::size_t changes_ = 0;
    std::size_t changes_tried_ = 0;
    std::size_t killed_ = 0;
};

class PostgresChaos : public PostgresTest {};

TEST_F(PostgresChaos, LosesNothingHoldsEveryCapAndFindsTheEarliestWindowAgain) {
    Trial{std::chrono::seconds{number_from("SLUICE_CHAOS_SECONDS", 60)}}.run();
}

}  // namespace
}  // namespace sluice::test
