#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "base/repeating.hpp"
#include "store/redis/client/cluster_slot.hpp"
#include "store/redis/client/routes.hpp"

namespace sluice::redis {
namespace {

using Failed = Unexpected<std::string>;
using Words = std::vector<std::string>;
using std::chrono::milliseconds;

constexpr std::string_view kUnknownHost = "?";

// Slots from `first` to `last` are at `master`.
struct SlotRange {
    std::size_t first;
    std::size_t last;
    Endpoint master;
};

// Nothing: the reply is not understood.
std::optional<std::vector<SlotRange>> read_slots(const Reply& reply, const Endpoint& speaker) {
    std::vector<SlotRange> ranges;
    for (std::size_t i = 0; i < reply.size(); ++i) {
        const ReplyView range = reply.at(i);
        if (range.size() < 3 || range.at(2).size() < 2) {
            return std::nullopt;
        }
        const ReplyView node = range.at(2);
        const std::string_view host = node.at(0).text();
        if (host == kUnknownHost) {
            continue;
        }
        const auto first = static_cast<std::size_t>(range.at(0).integer());
        const auto last = static_cast<std::size_t>(range.at(1).integer());
        if (first > last || last >= kSlots) {
            return std::nullopt;
        }
        const auto port = static_cast<std::uint16_t>(node.at(1).integer());
        ranges.push_back({first, last, {host.empty() ? speaker.host : std::string{host}, port}});
    }
    return ranges;
}

Result<std::vector<SlotRange>, std::string> ask_for_slots(const Endpoint& node, const Greeting& greeting) {
    auto connection = greet(node, greeting, Wanted::Anything);
    if (!connection) {
        return Failed{connection.error()};
    }
    const auto reply =
        (*connection)->ask(Words{"CLUSTER", "SLOTS"}, std::chrono::steady_clock::now() + greeting.timeout);
    if (!reply || !reply->is_array()) {
        return Failed{"Redis at " + node.text() + " is not part of a Cluster" +
                      (reply ? ": " + std::string{reply->text()} : "")};
    }
    auto ranges = read_slots(*reply, node);
    if (!ranges || ranges->empty()) {
        return Failed{"the Cluster of Redis at " + node.text() + " has no slots assigned"};
    }
    return std::move(*ranges);
}

// The map of the slots, and a pool for each master. The map is asked for anew when something is lost.
class ClusterRoutes final : public Routes {
public:
    ClusterRoutes(std::vector<Endpoint> seeds, Greeting greeting, PoolWishes wishes)
        : seeds_{std::move(seeds)}, greeting_{std::move(greeting)}, wishes_{std::move(wishes)} {}

    ~ClusterRoutes() override {
        rounds_.stop();
        // Pools have threads that ask for slots, until they are gone.
        std::map<Endpoint, std::shared_ptr<ConnectionPool>> gone;
        const std::lock_guard lock{mutex_};
        std::fill(slots_.begin(), slots_.end(), nullptr);
        gone.swap(pools_);
    }

    // Why it cannot be used: nobody tells the map, or one of the masters is not as it should be.
    Result<void, std::string> open() {
        if (auto learned = learn(); !learned) {
            return learned;
        }
        for (const auto& [endpoint, pool] : pools_) {
            if (auto first = pool->open_first(); !first) {
                return first;
            }
        }
        return {};
    }

    [[nodiscard]] bool splits() const override { return true; }
    [[nodiscard]] std::size_t lanes() const override { return lanes_; }
    [[nodiscard]] std::size_t lane(std::uint16_t slot) override {
        const std::lock_guard lock{mutex_};
        return lane_of_slot_[slot];
    }

    std::shared_ptr<ConnectionPool> to(std::uint16_t slot) override {
        const std::lock_guard lock{mutex_};
        if (!slots_[slot]) {
            disturb();
        }
        return slots_[slot];
    }

    std::shared_ptr<ConnectionPool> at(const Endpoint& endpoint) override {
        const std::lock_guard lock{mutex_};
        return pool_of(endpoint);
    }

    void moved(std::uint16_t slot, const Endpoint& endpoint) override {
        const std::lock_guard lock{mutex_};
        slots_[slot] = pool_of(endpoint);
        lane_of_slot_[slot] = home_of(endpoint);
        disturb();
    }

    void lost(ConnectionPool& pool) override {
        pool.drop_idle();
        missed();
    }

    void missed() override {
        const std::lock_guard lock{mutex_};
        disturb();
    }

private:
    // Asking is cheap, but not for each of thousands of calls.
    static constexpr milliseconds kPause{50};
    // Each costs threads. Masters beyond share them.
    static constexpr std::size_t kLanesMax = 16;

    // With mutex_ held.
    void disturb() {
        old_ = true;
        rounds_.nudge();
    }

    // With mutex_ held.
    std::shared_ptr<ConnectionPool> pool_of(const Endpoint& endpoint) {
        auto& pool = pools_[endpoint];
        if (!pool) {
            pool = std::make_shared<ConnectionPool>(
                [this, endpoint] { return open_at(endpoint); }, wishes_.connections_max,
                ServerWatchSettings{"Redis at " + endpoint.text(), wishes_.patience, wishes_.runtime,
                                    wishes_.observer});
        }
        return pool;
    }

    Result<std::unique_ptr<Connection>, std::string> open_at(const Endpoint& endpoint) {
        auto opened = tried(greet(endpoint, greeting_, Wanted::Limits), wishes_.trial, slot_at(endpoint));
        if (!opened) {  // Another may have taken over.
            missed();
        }
        return opened;
    }

    // A slot that the server has. If it has none it says so, and that is an answer.
    std::uint16_t slot_at(const Endpoint& endpoint) {
        const std::lock_guard lock{mutex_};
        const auto pool = pools_.find(endpoint);
        const auto slot =
            pool == pools_.end() ? slots_.end() : std::find(slots_.begin(), slots_.end(), pool->second);
        return slot == slots_.end() ? 0 : static_cast<std::uint16_t>(slot - slots_.begin());
    }

    // The lane of a server: one that has the fewest. With mutex_ held.
    std::size_t home_of(const Endpoint& endpoint) {
        if (const auto known = homes_.find(endpoint); known != homes_.end()) {
            return known->second;
        }
        std::vector<std::size_t> crowds(lanes_);
        for (const auto& [server, lane] : homes_) {
            ++crowds[lane];
        }
        const auto least = std::min_element(crowds.begin(), crowds.end());
        return homes_[endpoint] = static_cast<std::size_t>(least - crowds.begin());
    }

    // Asks for the map if it may not be true any more, and says when to look again: not at once, whatever
    // happens.
    Repeating::Pause look_again() {
        {
            const std::lock_guard lock{mutex_};
            if (!old_) {
                return Repeating::kUntilNudged;
            }
            old_ = false;
        }
        const bool learned = learn().has_value();
        const std::lock_guard lock{mutex_};
        old_ = old_ || !learned;
        return kPause;
    }

    std::vector<Endpoint> known_nodes() {
        std::vector<Endpoint> nodes;
        const std::lock_guard lock{mutex_};
        for (const auto& [endpoint, pool] : pools_) {
            nodes.push_back(endpoint);
        }
        nodes.insert(nodes.end(), seeds_.begin(), seeds_.end());
        // Another one is asked first each time: one that hangs or is cut off does not lead us for long.
        std::rotate(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(turn_++ % nodes.size()),
                    nodes.end());
        return nodes;
    }

    Result<void, std::string> learn() {
        std::string problem;
        for (const Endpoint& node : known_nodes()) {
            const auto ranges = ask_for_slots(node, greeting_);
            if (ranges) {
                adopt(*ranges);
                return {};
            }
            problem = ranges.error();
        }
        return Failed{problem};
    }

    void adopt(const std::vector<SlotRange>& ranges) {
        std::map<Endpoint, std::shared_ptr<ConnectionPool>> gone;  // Closed when the lock is free again.
        const std::lock_guard lock{mutex_};
        gone.swap(pools_);
        std::set<Endpoint> masters;
        for (const SlotRange& range : ranges) {
            masters.insert(range.master);
        }
        lanes_ = lanes_ != 0 ? lanes_ : std::min(masters.size(), kLanesMax);
        std::erase_if(homes_, [&](const auto& home) { return !masters.contains(home.first); });
        std::vector<std::shared_ptr<ConnectionPool>> slots(kSlots);
        for (const SlotRange& range : ranges) {
            if (const auto known = gone.find(range.master); known != gone.end()) {
                pools_.insert(gone.extract(known));
            }
            const auto pool = pool_of(range.master);
            const std::size_t lane = home_of(range.master);
            for (std::size_t slot = range.first; slot <= range.last; ++slot) {
                slots[slot] = pool;
                lane_of_slot_[slot] = lane;
            }
        }
        slots_.swap(slots);
    }

    const std::vector<Endpoint> seeds_;
    const Greeting greeting_;
    const PoolWishes wishes_;
    std::size_t lanes_ = 0;  // As many as there were masters when it was opened.
    std::mutex mutex_;
    std::map<Endpoint, std::shared_ptr<ConnectionPool>> pools_;  // Guarded by mutex_, like all below.
    std::vector<std::shared_ptr<ConnectionPool>> slots_{kSlots};
    std::map<Endpoint, std::size_t> homes_;  // The lane of each master.
    std::vector<std::size_t> lane_of_slot_ =
        std::vector<std::size_t>(kSlots);  // One that nobody has keeps its last.
    bool old_ = false;                     // What is known of the slots may not be true any more.
    std::size_t turn_ = 0;
    Repeating rounds_{wishes_.runtime, Repeating::kUntilNudged, [this](const std::stop_token& /*stop*/) {
                          return look_again();
                      }};  // Last: they use all of the above.
};

}  // namespace

OpenedRoutes open_cluster_routes(const RedisAddress& address, const Greeting& greeting,
                                 const PoolWishes& wishes) {
    auto routes = std::make_unique<ClusterRoutes>(address.nodes, greeting, wishes);
    if (auto opened = routes->open(); !opened) {
        return Failed{opened.error()};
    }
    return std::unique_ptr<Routes>{std::move(routes)};
}

}  // namespace sluice::redis
