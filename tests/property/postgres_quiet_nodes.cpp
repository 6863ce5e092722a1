// Three nodes assign, cancel, move and raise caps at once. In the end some wait for an application, after
// they have looked at windows, while others free places. After 5 s of quiet each of them must know of every
// window with room, and of all of it. SLUICE_QUIET_NODES_SEEDS says how many loads are tried,
// SLUICE_QUIET_NODES_SEED which is the first.
#include <cstdlib>
#include <deque>
#include <random>
#include <thread>

#include "support/postgres_interleaving.hpp"

namespace sluice::test {
namespace {

constexpr std::size_t kNodes = 3;
constexpr std::size_t kClientsOfANode = 3;
constexpr int kSteps = 12;           // Of each client.
constexpr Places kCap = 3;           // In the end.
constexpr WindowIndex kReach = 300;  // Windows in which events lie, at most.
constexpr std::chrono::seconds kQuiet{5};

std::uint32_t number_from(const char* variable, std::uint32_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : static_cast<std::uint32_t>(std::stoul(text));
}

// Requested times, some in the middle of a window.
const std::vector<Instant> kTimes{kNoon, kNoon + 10500ms, kNoon + 40s, kNoon + 41250ms, kNoon + 90s};

// One load, in a pool of its own.
struct Load {
    std::uint32_t seed;
    std::string config = "a" + std::to_string(seed);
    std::string other_config = "b" + std::to_string(seed);  // In the same pool, with a higher cap at first.
    std::string held_event = config + "-held";
};

// One client of a node: what it does follows from its seed. It cancels about as much as it assigns, so that
// the same windows are filled and freed again and again.
class Client {
public:
    Client(Node& node, const Load& load, std::uint32_t number)
        : node_{node},
          load_{load},
          name_{load.config + "-" + std::to_string(number) + "-"},
          random_{load.seed * 100 + number} {}

    void work() {
        for (int step = 0; step < kSteps; ++step) {
            const auto what = random_() % 10;
            if (what < 5 || mine_.empty()) {
                (void)node_->execute(some());
            } else if (what < 9) {
                cancel(1 + random_() % 6);
            } else {
                (void)node_.run(MoveSlot{event(mine_[random_() % mine_.size()]), a_time()});
            }
        }
    }
    // It looks at windows, and then waits for the application.
    void ask_for_the_held_event() {
        auto commands = some();
        commands.emplace_back(assign(load_.held_event, load_.config, SlotAsk{a_time()}));
        (void)node_->execute(commands);
    }
    void cancel_most() { cancel(mine_.size() * 3 / 4); }

private:
    Instant a_time() { return kTimes[random_() % kTimes.size()]; }

    std::vector<SlotCommand> some() {
        std::vector<SlotCommand> commands;
        const std::size_t count = 1 + random_() % 12;
        for (std::size_t i = 0; i < count; ++i) {
            mine_.push_back(name_ + std::to_string(++made_));
            const Places weight = random_() % 4 == 0 ? 2 : 1;
            const std::string& config = random_() % 3 == 0 ? load_.other_config : load_.config;
            commands.emplace_back(assign(mine_.back(), config, SlotAsk{a_time(), weight}));
        }
        return commands;
    }
    void cancel(std::size_t count) {
        for (; count > 0 && !mine_.empty(); --count) {
            std::swap(mine_[random_() % mine_.size()], mine_.back());
            (void)node_.run(CancelSlot{event(mine_.back())});
            mine_.pop_back();
        }
    }

    Node& node_;
    const Load& load_;
    const std::string name_;
    std::mt19937 random_;
    std::vector<std::string> mine_;
    int made_ = 0;
};

class QuietNodes : public Interleaving {
protected:
    void furnish(const Load& load) {
        must(nodes_[0]->put_config(draft(load.config, 1, 1s)));
        must(nodes_[0]->put_config(sharing(load.config, draft(load.other_config, kCap, 1s))));
    }

    using Act = std::function<void(Client&)>;
    // All of them at once.
    static std::vector<std::jthread> start(std::span<Client> clients, const Act& act) {
        std::vector<std::jthread> threads;
        for (Client& client : clients) {
            threads.emplace_back([&client, act] { act(client); });
        }
        return threads;
    }

    void run(const Load& load) {
        std::vector<Client> clients;
        for (std::uint32_t i = 0; i < kNodes * kClientsOfANode; ++i) {
            clients.emplace_back(nodes_[i % kNodes], load, i);
        }
        {
            const auto working = start(clients, &Client::work);
            for (Places cap = 2; cap <= kCap; ++cap) {
                must(nodes_[load.seed % kNodes]->put_config(draft(load.config, cap, 1s)));
            }
        }
        const std::span<Client> all{clients};
        const auto application = connect();
        // Far away from all windows that are looked at.
        ask(*application, "begin; select sluice.assign_slot('" + load.held_event + "', '" +
                              load.other_config + "', timestamptz " + kNoonText + " + interval '1 day')");
        const auto asking = start(all.first(kNodes), &Client::ask_for_the_held_event);
        EXPECT_TRUE(somebody_waits());
        start(all.subspan(kNodes), &Client::cancel_most).clear();
        ask(*application, load.seed % 2 == 0 ? "rollback" : "commit");
    }

    // Asks for all the room of every window at once, from the windows' own times on. Gives those that a node
    // did not find, or not all of their room.
    std::vector<std::string> overlooked(Node& node, const Load& load, const std::string& by) {
        const auto fills = must(node->windows(config(load.config), {kNoon, kNoon + kReach * 1s})).windows;
        std::vector<SlotCommand> asks;
        for (const WindowFill& fill : fills) {
            if (fill.count < kCap) {
                asks.emplace_back(assign("probe-" + by + load.config + format_instant(fill.start),
                                         load.config, SlotAsk{fill.start, kCap - fill.count}));
            }
        }
        std::vector<std::string> missed;
        const auto replies = node->execute(asks);
        for (std::size_t i = 0; i < asks.size(); ++i) {
            const Slot slot = must(std::get<SlotOutcome>(replies[i])).slot;
            if (slot.window_start != slot.requested) {
                missed.push_back(format_instant(slot.requested));
            }
        }
        return missed;
    }

    // So that no node hears of it, and each of them is asked for the same.
    void take_probes_away() const {
        ask(*connect(),
            "with gone as (delete from rl_event_slot_dtl where event_id like 'probe-%'"
            "  returning pool_nm, wndw_strt_ts, weight_ct)"
            " update rl_wndw_ct w set slot_ct = w.slot_ct - g.places from (select pool_nm, wndw_strt_ts,"
            "  sum(weight_ct) as places from gone group by 1, 2) as g"
            " where w.pool_nm = g.pool_nm and w.wndw_strt_ts = g.wndw_strt_ts");
    }

    std::deque<Node> nodes_;
};

INSTANTIATE_TEST_SUITE_P(Ways, QuietNodes, testing::Values(AssignWay::Batch),
                         [](const auto&) { return "Batch"; });

TEST_P(QuietNodes, KnowAllRoomOfEveryWindow) {
    const std::uint32_t first = number_from("SLUICE_QUIET_NODES_SEED", 1);
    const std::uint32_t seeds = number_from("SLUICE_QUIET_NODES_SEEDS", 6);
    for (std::size_t i = 0; i < kNodes; ++i) {
        nodes_.emplace_back(dsn(), NodeOptions{GetParam()});
    }
    std::deque<Load> loads;
    for (std::uint32_t seed = first; seed < first + seeds; ++seed) {
        furnish(loads.emplace_back(seed));
    }

    for (const Load& load : loads) {
        run(load);
    }
    std::this_thread::sleep_for(kQuiet);  // What this is about: whoever asks sooner disturbs it.

    for (std::size_t turn = 0; turn < kNodes; ++turn) {
        take_probes_away();
        for (const Load& load : loads) {
            const std::size_t node = (turn + load.seed) % kNodes;  // Each is the first to be asked at times.
            EXPECT_THAT(overlooked(nodes_[node], load, std::to_string(node)), testing::IsEmpty())
                << "seed " << load.seed << ", node " << node;
        }
    }
}

// As after news that were lost.
TEST_P(QuietNodes, LearnOfRoomThatNobodyTold) {
    Node& node = nodes_.emplace_back(dsn(), NodeOptions{GetParam()});
    must(node->put_config(draft("a", 1, 1s)));
    EXPECT_EQ(node.window_of("probe-x"), 0);
    EXPECT_EQ(node.window_of("y"), 1);

    take_probes_away();
    std::this_thread::sleep_for(kQuiet);

    EXPECT_EQ(node.window_of("z"), 0);
}

}  // namespace
}  // namespace sluice::test
