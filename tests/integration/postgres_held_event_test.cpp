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
        std::vector<std::string> refused;
        const auto replies = node->execute(commands);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const auto& outcome = std::get<SlotOutcome>(replies[i]);
            if (!outcome) {
                EXPECT_EQ(outcome.error().fault, SlotFault::Contended) << outcome.error().detail;
                refused.push_back(ids[i]);
            }
        }
        return refused;
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

}  // namespace
}  // namespace sluice::test
