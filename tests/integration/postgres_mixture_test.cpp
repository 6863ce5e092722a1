// Applications at every isolation level, with savepoints and rollbacks, beside a node that assigns in
// batches, cancels, changes of the cap, sweeps and retention: in any order. SLUICE_MIXTURE_SEED repeats one.
#include <array>
#include <cstdlib>
#include <random>
#include <set>

#include "base/random.hpp"
#include "support/postgres_interleaving.hpp"

namespace sluice::test {
namespace {

constexpr int kCapMax = 4;
constexpr int kSpan = 20;  // Seconds after noon that are asked for; a second is a window.
constexpr int kLookahead = 8;
constexpr std::chrono::seconds kDuration{3};

std::uint64_t chosen_seed() {
    const char* given = std::getenv("SLUICE_MIXTURE_SEED");
    return given == nullptr ? std::random_device{}() : std::stoull(given);
}

std::string seconds_after_noon(std::int64_t seconds) {
    return "timestamptz " + kNoonText + " + interval '" + std::to_string(seconds) + " s'";
}

class Mixture : public Interleaving {
protected:
    using Session = postgres::Connection;
    using Until = std::chrono::steady_clock::time_point;

    // What may happen to a caller among others; anything else is a defect.
    void note(const std::string& state) {
        static const std::set<std::string> kKnown{"",      "SL404", "SL409", "SL410", "SL405",
                                                  "SL503", "40001", "55P03", "40P01", "25P02"};
        if (!kKnown.contains(state)) {
            ADD_FAILURE() << state;
        }
    }

    void use_sql(std::uint64_t seed, Until until) {
        Random random{seed};
        const auto session = connect();
        const auto pick = [&](std::uint64_t below) { return random.next() % below; };
        static constexpr std::array<const char*, 3> kLevels{"read committed", "repeatable read",
                                                            "serializable"};
        for (int i = 0; std::chrono::steady_clock::now() < until; ++i) {
            ask(*session, std::string{"begin isolation level "} + kLevels.at(pick(3)));
            for (std::uint64_t call = 0; call <= pick(3); ++call) {
                const std::string id = "s" + std::to_string(seed % 1000) + "_" + std::to_string(i) + "_";
                const std::string at = seconds_after_noon(static_cast<std::int64_t>(pick(kSpan)));
                note(state_of(*session, "savepoint here"));
                note(state_of(*session, pick(3) == 0 ? "select * from sluice.assign_slots('{" + id + "1," +
                                                           id + "2," + id + "3}', 'a', " + at + ")"
                                                     : "select * from sluice.assign_slot('" + id +
                                                           std::to_string(call) + "', 'a', " + at + ", " +
                                                           std::to_string(1 + pick(2)) + ")"));
                if (pick(3) == 0) {
                    note(state_of(*session, "rollback to here"));
                }
            }
            note(state_of(*session, pick(2) == 0 ? "select pg_sleep(0.01)" : "select 1"));
            note(state_of(*session, pick(4) == 0 ? "rollback" : "commit"));
        }
    }

    void disturb(std::uint64_t seed, Until until) {
        Random random{seed};
        const auto session = connect();
        while (std::chrono::steady_clock::now() < until) {
            switch (random.next() % 8) {
                case 0:
                    note(state_of(*session, "select sluice.put_config('a', " +
                                                std::to_string(2 + random.next() % (kCapMax - 1)) +
                                                ", 1000, 'PT1S', 'a', " + std::to_string(kLookahead) +
                                                ", 5, clock_timestamp())"));
                    break;
                case 1:
                    note(state_of(
                        *session,
                        "delete from rl_wndw_frontier_trk where (pool_nm, req_ts) in (select pool_nm,"
                        " req_ts from rl_wndw_frontier_trk order by random() limit 1"
                        " for update skip locked)"));
                    break;
                case 2:
                    note(state_of(*session, "select sluice.raise_behind('a', sluice.to_ms(" +
                                                seconds_after_noon(kSpan) + "))"));
                    break;
                default:
                    note(state_of(
                        *session,
                        "set lock_timeout = '200ms'; select sluice.cancel_slot(event_id) from (select"
                        " event_id from rl_event_slot_dtl where slot_state_cd = 1"
                        " order by random() limit 1) as e"));
            }
        }
    }
};

INSTANTIATE_TEST_SUITE_P(Ways, Mixture, testing::Values(AssignWay::Batch, AssignWay::Function),
                         [](const auto& way) {
                             return way.param == AssignWay::Batch ? "Batch" : "Function";
                         });

TEST_P(Mixture, LeavesEveryCounterAndBoundRightAndTheEarliestWindowFound) {
    const std::uint64_t seed = chosen_seed();
    SCOPED_TRACE("SLUICE_MIXTURE_SEED=" + std::to_string(seed));
    Node one{dsn(), {GetParam(), 5}};
    must(one->put_config(looking_ahead(kLookahead, draft("a", kCapMax, 1s))));
    const auto until = std::chrono::steady_clock::now() + kDuration;
    {
        std::vector<std::jthread> others;
        for (std::uint64_t i = 1; i <= 3; ++i) {
            others.emplace_back([&, i] { use_sql(seed + i, until); });
        }
        others.emplace_back([&] { disturb(seed, until); });
        for (int i = 0; std::chrono::steady_clock::now() < until; ++i) {
            (void)one.run(assign("n" + std::to_string(i), "a", SlotAsk{kNoon + i % kSpan * 1s})).has_value();
        }
    }

    const auto session = connect();
    EXPECT_EQ(ask(*session, "select count(*) from rl_wndw_ct where slot_ct > " + std::to_string(kCapMax)),
              "0");
    EXPECT_EQ(ask(*session, "select count(*) from (" + kWindowsBelowTheirBounds + ") as w"), "0");
    for (std::int64_t at = 0; at < kSpan; at += 3) {
        const std::string earliest = ask(
            *session, "select min(s) from generate_series(" + std::to_string(at) + ", " +
                          std::to_string(at + kLookahead) +
                          ") s left join rl_wndw_ct w on w.pool_nm = 'a' and w.wndw_strt_ts = timestamptz " +
                          kNoonText +
                          " + s * interval '1 s' where coalesce(w.slot_ct, 0) < (select wndw_max_event_ct"
                          " from rl_event_wndw_config where act_in = 1)");
        const auto given =
            session->run_script("select extract(epoch from window_start - timestamptz " + kNoonText +
                                ")::int from sluice.assign_slot('q" + std::to_string(at) + "', 'a', " +
                                seconds_after_noon(at) + ")");
        EXPECT_EQ(given ? given->text(0, 0) : given.error().sqlstate, earliest.empty() ? "SL503" : earliest);
    }
}

}  // namespace
}  // namespace sluice::test
