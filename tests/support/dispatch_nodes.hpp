#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/dispatch_stage.hpp"
#include "support/standing_runtime.hpp"

namespace sluice::test {

// The store as one of several processes sees it: over a network that can be cut, and which tells it what the
// others do. A process that stands still does so within its calls, too.
class StoreOfNode final : public WorkStore {
public:
    StoreOfNode(NaiveWorkStore& store, StandingRuntime& runtime) : store_{store}, runtime_{runtime} {}

    bool cut = false;   // Nothing gets there.
    bool deaf = false;  // It hears nothing of what the others do.

    [[nodiscard]] bool is_shared() const override { return true; }
    Result<Taken, StoreError> take(const Lane& lane, std::size_t most, const Judge& judge) override {
        return asked([&] { return store_.take_as(this, lane, most, judge); });
    }
    Result<void, StoreError> settle(std::span<const Settlement> settlements) override {
        return asked([&] { return store_.settle(settlements); });
    }
    Result<std::vector<Lane>, StoreError> lanes() override {
        return asked([&] { return store_.lanes(); });
    }
    Result<std::vector<OpenClaim>, StoreError> open_claims() override {
        return asked([&] { return store_.open_claims(); });
    }
    Result<std::optional<Keeping>, StoreError> keep(const std::string& node) override {
        return asked([&] { return store_.keep(node); });
    }
    void let_go(Fence fence) override {
        if (!cut) {
            store_.let_go(fence);
        }
    }
    Result<bool, StoreError> note_permits(Fence fence, std::span<const OutsidePermit> permits) override {
        return asked([&] { return store_.note_permits(fence, permits); });
    }
    Result<void, StoreError> drop_permits(std::span<const std::string> ids) override {
        return asked([&] { return store_.drop_permits(ids); });
    }
    Result<std::vector<OutsidePermit>, StoreError> outside_permits() override {
        return asked([&] { return store_.outside_permits(); });
    }
    Result<TermsRef, StoreError> terms() override {
        return asked([&] { return store_.terms(); });
    }
    Result<void, StoreError> hold(const Subject& subject, const Hold& hold) override {
        return asked([&] { return store_.hold(subject, hold); });
    }
    Result<void, StoreError> release(const Subject& subject, const std::string& by) override {
        return asked([&] { return store_.release(subject, by); });
    }
    Result<void, StoreError> put_rate(const Subject& subject, std::optional<GateTerms> rate,
                                      const std::string& by) override {
        return asked([&] { return store_.put_rate(subject, rate, by); });
    }
    Result<std::optional<WorkStory>, StoreError> find(const EventId& event_id) override {
        return store_.find(event_id);
    }
    Result<WorkPage, StoreError> list(const WorkFilter& filter) override { return store_.list(filter); }
    Result<std::uint64_t, StoreError> replay(const ReplayRequest& request, const std::string& by) override {
        return store_.replay(request, by);
    }
    Result<std::vector<LaneCount>, StoreError> counts() override { return store_.counts(); }
    void on_news(std::function<void(const WorkTidings&)> call) override {
        if (call == nullptr) {
            store_.listen(this, nullptr);
            return;
        }
        store_.listen(this, [this, call = std::move(call)](const WorkTidings& tidings) {
            if (!cut && !deaf) {
                call(tidings);
            }
        });
    }

private:
    template <class Call>
    auto asked(Call call) -> decltype(call()) {
        runtime_.wait_while_standing();
        if (cut) {
            return Unexpected{StoreError{"the network is cut"}};
        }
        auto result = call();
        runtime_.wait_while_standing();
        return result;
    }

    NaiveWorkStore& store_;
    StandingRuntime& runtime_;
};

// Several dispatchers on one store, each with a runtime and a carrier of its own, on one virtual time.
class DispatchNodes {
public:
    struct Setting {
        std::uint64_t seed = 1;
        std::size_t nodes = 2;
        Duration lease{3'000};
        std::chrono::nanoseconds commit{std::chrono::milliseconds{3}};
        CallTerms call{.timeout = std::chrono::seconds{2}};
        std::size_t take_max = 512;
    };

    explicit DispatchNodes(const Setting& setting)
        : setting_{setting},
          clock_{Moment{std::chrono::hours{480'000}}},
          day_{clock_},
          world_{setting.seed, clock_},
          store_{day_, {}, [this] { world_.sleep(setting_.commit); }} {
        store_.share(setting.lease);
        for (std::size_t i = 0; i < setting.nodes; ++i) {
            nodes_.push_back(std::make_unique<Node>(*this));
            start(i);
        }
    }

    void start(std::size_t node) {
        Node& one = *nodes_.at(node);
        ++starts_;
        one.dispatcher = std::make_unique<Dispatcher>(
            DispatcherOptions{.node = "node-" + std::to_string(node),
                              .take_max = setting_.take_max,
                              .patience = std::chrono::milliseconds{0},
                              .seed = setting_.seed * 1'000 + starts_},
            DispatcherWorld{one.store, day_, one.carriers, one.metrics, one.log, one.runtime});
    }
    void stop(std::size_t node) { nodes_.at(node)->dispatcher.reset(); }
    // As if the process ended in this moment.
    void kill(std::size_t node) {
        nodes_.at(node)->store.cut = true;
        stop(node);
        nodes_.at(node)->store.cut = false;
    }
    // The process stands still for so long; or its machine sleeps.
    void freeze(std::size_t node, std::chrono::nanoseconds length) {
        nodes_.at(node)->runtime.stand_still();
        pass(length);
        nodes_.at(node)->runtime.go_on();
    }
    void put_to_sleep(std::size_t node, std::chrono::nanoseconds length) {
        nodes_.at(node)->runtime.stand_still();
        pass(length);
        nodes_.at(node)->runtime.wake_up(length);
    }
    void pass(std::chrono::nanoseconds length) { world_.sleep(length); }

    [[nodiscard]] Instant now() const { return day_.now(); }
    [[nodiscard]] SteadyTime steady() const { return world_.now(); }
    NaiveWorkStore& store() { return store_; }
    StoreOfNode& store_of(std::size_t node) { return nodes_.at(node)->store; }
    Dispatcher& dispatcher(std::size_t node) { return *nodes_.at(node)->dispatcher; }
    CountingDispatchMetrics& metrics(std::size_t node) { return nodes_.at(node)->metrics; }
    ScriptedCarrier& carrier(std::size_t node) {
        return static_cast<ScriptedCarrier&>(*nodes_.at(node)->carriers.find(TargetKind::Webhook));
    }
    void set_script(const ScriptedCarrier::Script& script) {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            carrier(i).set_script(script);
        }
    }
    // Nothing: nobody, as far as they know.
    [[nodiscard]] std::optional<std::size_t> keeper() const {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (nodes_[i]->dispatcher != nullptr && nodes_[i]->dispatcher->figures().is_keeper) {
                return i;
            }
        }
        return std::nullopt;
    }
    [[nodiscard]] std::size_t sent_by(std::size_t node) { return carrier(node).arrivals().size(); }
    // What arrived from all of them, in order.
    [[nodiscard]] std::vector<SteadyTime> arrival_times() {
        std::vector<SteadyTime> times;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            for (const Arrival& arrival : carrier(i).arrivals()) {
                times.push_back(arrival.arrived);
            }
        }
        std::sort(times.begin(), times.end());
        return times;
    }

private:
    struct Node {
        explicit Node(DispatchNodes& all) : runtime{all.world_}, store{all.store_, runtime} {
            carriers.add(TargetKind::Webhook, std::make_unique<ScriptedCarrier>(runtime, all.setting_.call));
        }

        StandingRuntime runtime;
        StoreOfNode store;
        Carriers carriers;
        CountingDispatchMetrics metrics;
        RecordingLog log;
        std::unique_ptr<Dispatcher> dispatcher;
    };

    const Setting setting_;
    HandMomentClock clock_;
    const DayOf day_;
    VirtualRuntime world_;
    NaiveWorkStore store_;
    std::uint64_t starts_ = 0;
    std::vector<std::unique_ptr<Node>> nodes_;
};

}  // namespace sluice::test
