// A config change and retention need a pool for themselves. Nobody else may notice for longer than a moment.
#include "support/postgres_interleaving.hpp"

namespace sluice::test {
namespace {

using Steady = std::chrono::steady_clock;

class Closing : public Interleaving {
protected:
    // Assigns by SQL until told to stop, each event for a window in a chunk of its own.
    struct Caller {
        int events = 0;
        int late = 0;  // Not put where they asked, although nobody else asks for that window.
        std::string failure;
    };
    Caller call_until(const std::atomic<bool>& stop, int number) const {
        Caller caller;
        const auto session = connect();
        while (!stop && caller.failure.empty()) {
            const std::string id = std::to_string(number) + "_" + std::to_string(caller.events);
            const std::string at = "timestamptz " + kNoonText + " + interval '10 s' * " +
                                   std::to_string(caller.events++ * 4 + number);
            const auto rows = session->run_script("select window_start <> " + at +
                                                  " from sluice.assign_slot('" + id + "', 'a', " + at + ")");
            if (!rows) {
                caller.failure = rows.error().described();
            } else if (rows->text(0, 0) == "t") {
                ++caller.late;
            }
        }
        return caller;
    }
};

INSTANTIATE_TEST_SUITE_P(Ways, Closing, testing::Values(AssignWay::Batch, AssignWay::Function),
                         [](const auto& way) {
                             return way.param == AssignWay::Batch ? "Batch" : "Function";
                         });

TEST_P(Closing, ForAConfigChangeDelaysNoEventThatProvisionsItsWindow) {
    Node one{dsn(), {GetParam(), 10}};
    must(one->put_config(draft("a", 5, 1s)));
    std::atomic<bool> stop{false};
    std::vector<std::future<Caller>> callers;
    for (int number = 0; number < 3; ++number) {
        callers.push_back(std::async(std::launch::async, [&, number] { return call_until(stop, number); }));
    }

    std::vector<Steady::duration> waits;
    for (Places i = 0; i < 9; ++i) {
        const auto start = Steady::now();
        const auto changed = one->put_config(draft("a", 5 + i % 2, 1s));
        waits.push_back(Steady::now() - start);
        EXPECT_TRUE(changed) << changed.error().detail;
    }
    stop = true;

    for (auto& running : callers) {
        const Caller caller = running.get();
        EXPECT_EQ(caller.failure, "");
        EXPECT_EQ(caller.late, 0) << "of " << caller.events;
    }
    std::ranges::sort(waits);
    EXPECT_LT(waits[waits.size() / 2], 1s);
}

TEST_P(Closing, IsGivenUpWhileAnApplicationIsInsideAndTheOthersGoOn) {
    Node one = node();
    must(one->put_config(draft("a", 1000, 1s)));
    const auto application = connect();
    ask(*application, "begin");
    ask(*application, call_assign("x"));

    std::vector<std::future<Steady::duration>> changes;
    for (int i = 0; i < 3; ++i) {
        changes.push_back(std::async(std::launch::async, [&] {
            const auto start = Steady::now();
            const auto changed = one->put_config(draft("a", 5, 1s));
            EXPECT_TRUE(!changed && changed.error().fault == SlotFault::Contended);
            return Steady::now() - start;
        }));
    }
    const auto given_up = [](const auto& change) { return change.wait_for(0s) == std::future_status::ready; };
    Steady::duration slowest{};
    for (int i = 0; !std::ranges::all_of(changes, given_up); ++i) {
        const auto asked = Steady::now();
        EXPECT_TRUE(one.assign_noon("e" + std::to_string(i)));
        slowest = std::max(slowest, Steady::now() - asked);
    }
    std::vector<Steady::duration> waits;
    std::ranges::transform(changes, std::back_inserter(waits), [](auto& change) { return change.get(); });
    std::ranges::sort(waits);
    ask(*application, "commit");

    EXPECT_LT(waits[0], 4s) << "not all workers of a node wait for so long";
    EXPECT_GE(waits[1], 4500ms);
    EXPECT_LT(slowest, 1s);
    EXPECT_TRUE(one->put_config(draft("a", 5, 1s)));
}

TEST_P(Closing, ForRetentionIsGivenUpAtOnceAndSucceedsLater) {
    Node one = node();
    must(one->put_config(draft("a", 1000, 1s)));
    must(one.assign_noon("before"));
    const auto application = connect();
    const auto keeper = connect();
    const std::string forget = "select sluice.forget_windows('a', '1 h', 1000)";
    one.set_server_clock_to(kNoon + 2h);
    ask(*application, "begin");
    ask(*application, call_assign("x"));

    EXPECT_EQ(state_of(*keeper, forget), "55P03");
    EXPECT_TRUE(one.assign_noon("y"));
    ask(*application, "commit");

    EXPECT_NE(ask(*keeper, forget), "0");
    EXPECT_EQ(ask(*keeper, "select count(*) from rl_event_slot_dtl"), "0");
}

TEST_P(Closing, ForRetentionEndsNoTransactionOverTwoConfigs) {
    Node one = node();
    must(one->put_config(draft("a", 1000, 1s)));
    must(one->put_config(sharing("a", draft("b", 1000, 1s))));
    must(one.assign_noon("before"));  // Makes the counters.
    one.set_server_clock_to(kNoon + 2h);
    const auto application = connect();
    ask(*application, "begin");
    ask(*application, call_assign("x", "b"));

    // It has config a by now and waits for b, which the application holds; the application comes to a.
    auto forgotten = std::async(std::launch::async, [&] {
        return state_of(*connect(), "select sluice.forget_windows('a', '1 h', 1000)");
    });
    EXPECT_TRUE(somebody_waits() || forgotten.wait_for(0s) == std::future_status::ready);
    EXPECT_EQ(state_of(*application, call_assign("y", "a")), "");
    ask(*application, "commit");

    EXPECT_EQ(forgotten.get(), "55P03");
}

}  // namespace
}  // namespace sluice::test
