// Three nodes assign, cancel, move and raise caps at once. When they are quiet again, each of them must find
// the earliest window with room, for every requested time.
// SLUICE_QUIET_NODES_SEEDS says how many loads are tried, SLUICE_QUIET_NODES_SEED which is the first.
#include <cstdlib>
#include <deque>
#include <random>
#include <thread>

#include "support/postgres_interleaving.hpp"

namespace sluice::test {
namespace {

constexpr std::size_t kNodes = 3;
constexpr std::size_t kClientsOfANode = 3;
constexpr int kSteps = 100;  // Of each client.
constexpr int kProbes = 10;  // For each node and requested time.

std::uint32_t number_from(const char* variable, std::uint32_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : static_cast<std::uint32_t>(std::stoul(text));
}

// Requested times, some in the middle of a window.
const std::vector<Instant> kTimes{kNoon, kNoon + 10500ms, kNoon + 40s, kNoon + 41250ms, kNoon + 90s};

// One client of a node: what it does follows from its seed.
class Client {
public:
    Client(Node& node, std::string name, std::uint32_t seed)
        : node_{node}, name_{std::move(name)}, random_{seed} {}

    void work() {
        for (int step = 0; step < kSteps; ++step) {
            const auto what = random_() % 10;
            if (what < 4 || mine_.empty()) {
                assign_some();
            } else if (what < 8) {
                cancel_some();
            } else {
                (void)node_.run(MoveSlot{event(pick()), a_time()});
            }
        }
    }

private:
    Instant a_time() { return kTimes[random_() % kTimes.size()]; }
    // Mostly one of the latest: its window has just been looked at by other nodes.
    const std::string& pick() {
        const std::size_t among = random_() % 4 == 0 ? mine_.size() : std::min<std::size_t>(mine_.size(), 8);
        return mine_[mine_.size() - 1 - random_() % among];
    }

    void assign_some() {
        std::vector<SlotCommand> commands;
        const std::size_t count = 1 + random_() % 12;
        for (std::size_t i = 0; i < count; ++i) {
            mine_.push_back(name_ + std::to_string(mine_.size()));
            const Places weight = random_() % 4 == 0 ? 2 : 1;
            commands.emplace_back(
                assign(mine_.back(), random_() % 3 == 0 ? "b" : "a", SlotAsk{a_time(), weight}));
        }
        (void)node_->execute(commands);
    }
    void cancel_some() {
        for (std::size_t i = 1 + random_() % 6; i > 0; --i) {
            (void)node_.run(CancelSlot{event(pick())});
        }
    }

    Node& node_;
    const std::string name_;
    std::mt19937 random_;
    std::vector<std::string> mine_;
};

class QuietNodes : public Interleaving {
protected:
    void load(std::deque<Node>& nodes, std::uint32_t seed) {
        std::vector<std::jthread> clients;
        for (std::size_t i = 0; i < kNodes * kClientsOfANode; ++i) {
            clients.emplace_back([&nodes, seed, i] {
                const std::string name = "s" + std::to_string(seed) + "c" + std::to_string(i) + "-";
                Client{nodes[i % kNodes], name, seed * 100 + static_cast<std::uint32_t>(i)}.work();
            });
        }
        for (const Places cap : {2U, 3U}) {
            must(nodes[seed % kNodes]->put_config(draft("a", cap, 1s)));
        }
    }

    // Whether a new event goes where it should. If it does not, it is taken away again.
    bool finds_the_earliest(Node& node, const SlotAsk& ask) {
        const AssignSlot probe = assign("probe" + std::to_string(++probes_), "a", ask);
        const Slot quoted = must(node->quote({std::nullopt, probe.config_name, ask}));
        const Slot given = must(node.run(probe)).slot;
        const bool earliest = given.window_start == quoted.window_start;
        if (!earliest) {
            must(node.run(CancelSlot{probe.event_id}));
        }
        return earliest;
    }

    // Each free place is asked for, one after the other: none of them may be forgotten.
    bool keeps_finding_the_earliest(Node& node, Instant time) {
        for (int i = 0; i < kProbes; ++i) {
            const SlotAsk ask{time, i % 3 == 0 ? 2U : 1U};
            if (!eventually([&] { return finds_the_earliest(node, ask); })) {
                return false;
            }
        }
        return true;
    }

    int probes_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Ways, QuietNodes, testing::Values(AssignWay::Batch),
                         [](const auto&) { return "Batch"; });

TEST_P(QuietNodes, PlaceAtTheEarliestForEveryRequestedTime) {
    const std::uint32_t first = number_from("SLUICE_QUIET_NODES_SEED", 1);
    const std::uint32_t seeds = number_from("SLUICE_QUIET_NODES_SEEDS", 3);
    for (std::uint32_t seed = first; seed < first + seeds; ++seed) {
        std::deque<Node> nodes;
        for (std::size_t i = 0; i < kNodes; ++i) {
            nodes.emplace_back(dsn(), NodeOptions{GetParam()});
        }
        must(nodes[0]->put_config(draft("a", 1, 1s)));
        must(nodes[0]->put_config(sharing("a", draft("b", 3, 1s))));

        load(nodes, seed);

        for (std::size_t i = 0; i < kNodes; ++i) {
            for (const Instant time : kTimes) {
                EXPECT_TRUE(keeps_finding_the_earliest(nodes[i], time))
                    << "seed " << seed << ", node " << i << ", " << format_instant(time);
            }
        }
    }
}

}  // namespace
}  // namespace sluice::test
