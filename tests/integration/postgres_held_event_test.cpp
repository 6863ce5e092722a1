#include "support/postgres_interleaving.hpp"

// An application's open transaction is at some event that others send in batches.
namespace sluice::test {
namespace {

using std::chrono::steady_clock;

class HeldEvent : public Interleaving {
protected:
    // A node as the daemon sets it up.
    [[nodiscard]] Node patient_node() const { return Node{dsn(), {GetParam(), 100, 2000ms}}; }

    // Which of these events were refused, in a batch of single requests.
    static std::vector<std::string> refused_of(Node& node, const std::vector<std::string>& ids) {
        std::vector<SlotCommand> commands;
        for (const std::string& id : ids) {
            commands.emplace_back(assign(id, "a", SlotAsk{kNoon}));
        }
        std::vector<SlotOutcome> outcomes;
        for (SlotReply& reply : node->execute(commands)) {
            outcomes.push_back(std::get<SlotOutcome>(std::move(reply)));
        }
        return refused_in(ids, outcomes);
    }

    // The same in one request for all of them.
    static std::vector<std::string> refused_of_each(Node& node, const std::vector<std::string>& ids) {
        AssignEach command;
        for (const std::string& id : ids) {
            command.events.push_back(assign(id, "a", SlotAsk{kNoon}));
        }
        const std::vector<SlotCommand> commands{std::move(command)};
        return refused_in(ids, std::get<std::vector<SlotOutcome>>(node->execute(commands).front()));
    }

    static std::vector<std::string> refused_in(const std::vector<std::string>& ids,
                                               const std::vector<SlotOutcome>& outcomes) {
        std::vector<std::string> refused;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            if (!outcomes.at(i)) {
                EXPECT_EQ(outcomes[i].error().fault, SlotFault::Contended) << outcomes[i].error().detail;
                refused.push_back(ids[i]);
            }
        }
        return refused;
    }

    // A full batch of events, and the most of them, which the application's transaction is at from now on.
    static std::pair<std::vector<std::string>, std::vector<std::string>> many_held(
        postgres::Connection& application) {
        std::vector<std::string> ids;
        std::vector<std::string> held;
        ask(application, "begin");
        for (int i = 0; i < 256; ++i) {
            ids.push_back("x" + std::to_string(i));
            if (i % 5 != 3) {
                held.push_back(ids.back());
                ask(application, call_assign(ids.back()));
            }
        }
        return {ids, held};
    }

    static std::vector<std::string> batch(const std::string& prefix, const std::vector<std::string>& held) {
        std::vector<std::string> ids;
        for (int i = 0; i < 200; ++i) {
            ids.push_back(prefix + std::to_string(i));
        }
        for (std::size_t i = 0; i < held.size(); ++i) {
            ids[i * 37 + 11] = held[i];
        }
        return ids;
    }
};

INSTANTIATE_TEST_SUITE_P(Ways, HeldEvent, testing::Values(AssignWay::Batch, AssignWay::Function),
                         [](const auto& way) {
                             return way.param == AssignWay::Batch ? "Batch" : "Function";
                         });

TEST_P(HeldEvent, IsRefusedAlone) {
    Node one = patient_node();
    must(one->put_config(draft("a", 50, 1s)));
    one.window_of("first");
    const std::vector<std::string> held{"h1", "h2", "h3"};
    const auto application = connect();
    ask(*application, "begin");
    for (const std::string& id : held) {
        ask(*application, call_assign(id));
    }

    EXPECT_EQ(refused_of(one, batch("x", held)), held);
    ask(*application, "rollback");

    EXPECT_EQ(refused_of(one, batch("x", held)), std::vector<std::string>{});
}

TEST_P(HeldEvent, IsWaitedForOnceAndDelaysLaterBatchesNoMore) {
    Node one = patient_node();
    must(one->put_config(draft("a", 50, 1s)));
    one.window_of("first");
    const auto application = connect();
    ask(*application, "begin; " + call_assign("h"));
    const auto timed = [&](const std::string& prefix) {
        const auto start = steady_clock::now();
        EXPECT_EQ(refused_of(one, batch(prefix, {"h"})), std::vector<std::string>{"h"});
        return steady_clock::now() - start;
    };

    const auto first = timed("x");
    const auto second = timed("y");

    EXPECT_GE(first, 1900ms) << "it might have been let go";
    EXPECT_LT(second, first);
    ask(*application, "rollback");
    EXPECT_EQ(refused_of(one, {"h"}), std::vector<std::string>{});
}

TEST_P(HeldEvent, IsRefusedAloneWhereManyOfABatchAreHeld) {
    Node one = patient_node();
    must(one->put_config(draft("a", 50, 1s)));
    one.window_of("first");
    const auto application = connect();
    const auto [ids, held] = many_held(*application);
    const auto timed = [&, ids = ids, held = held] {
        const auto start = steady_clock::now();
        EXPECT_EQ(refused_of(one, ids), held);
        return steady_clock::now() - start;
    };

    const auto first = timed();
    const auto second = timed();

    EXPECT_LT(first, 4s) << "longer than the patience of one batch";
    EXPECT_LT(second, first) << "they are known to be held";
    ask(*application, "rollback");
    EXPECT_EQ(refused_of(one, ids), std::vector<std::string>{});
}

TEST_P(HeldEvent, IsRefusedAloneWhereManyOfOneRequestAreHeld) {
    Node one = patient_node();
    must(one->put_config(draft("a", 50, 1s)));
    one.window_of("first");
    const auto application = connect();
    const auto [ids, held] = many_held(*application);
    const auto start = steady_clock::now();

    EXPECT_EQ(refused_of_each(one, ids), held);

    EXPECT_LT(steady_clock::now() - start, 4s) << "longer than the patience of one batch";
    ask(*application, "rollback");
    EXPECT_EQ(refused_of_each(one, ids), std::vector<std::string>{});
}

TEST_P(HeldEvent, IsAnsweredIfItIsLetGoInTime) {
    Node one = patient_node();
    must(one->put_config(draft("a", 50, 1s)));
    one.window_of("first");
    const auto application = connect();
    const auto [ids, held] = many_held(*application);
    const auto ended = std::async(std::launch::async, [&] {
        EXPECT_TRUE(somebody_waits());
        ask(*application, "commit");
    });

    EXPECT_EQ(refused_of(one, ids), std::vector<std::string>{});
}

}  // namespace
}  // namespace sluice::test
