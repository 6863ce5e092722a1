#pragma once

#include <algorithm>
#include <vector>

#include "app/combiner.hpp"
#include "app/limits/deadline_queue.hpp"
#include "app/limits/fail_policy.hpp"
#include "app/limits/limit_observer.hpp"
#include "app/limits/limit_servers.hpp"
#include "app/limits/node_store.hpp"
#include "app/limits/shared_plans.hpp"
#include "base/repeating.hpp"

namespace sluice {

// Whether the store answers within the call, from memory, or waits for somebody else.
enum class StoreCalls : std::uint8_t { Direct, Blocking };

struct LimitServiceOptions {
    StoreCalls calls = StoreCalls::Direct;
    // For stores that block: how long a check may take before its plans' policy answers it.
    std::chrono::milliseconds deadline{50};
    CombinerLimits batches{.batch_max = 256, .queue_max = 65'536, .workers = 2};  // Of each lane.
    std::size_t queries_max = 1'024;            // Refunds, inspections and the like that may wait.
    std::chrono::milliseconds patience{5'000};  // How long those may wait for their turn.
    FailPolicyOptions policy{};
    NodeStoreOptions node{};  // For stores that block: what is answered without them.
};

// How long a store that blocks may wait for a key that others hold: it must be given up long before the
// deadline, because a whole batch waits for it. A check of such a key is told to come back after as long.
inline std::chrono::milliseconds key_wait(std::chrono::milliseconds deadline) {
    return std::max(deadline / 3, std::chrono::milliseconds{1});
}

// What surrounds the service. All of it outlives the service.
struct LimitServiceWorld {
    LimitStore& store;
    LimitStore& local;  // Decides for plans that say `local` while the store fails.
    PlanBook& plans;
    LimitMetrics& metrics;
    const LimitServers& servers;    // Those of the store.
    Runtime& runtime;               // Used for a store that blocks.
    SharedPlans* shared = nullptr;  // Where other nodes share the plans that administrators put.
};

// Another rule for one key until it ends, by the store's clock. Fields of the draft that are empty are as in
// the plan itself, unless another algorithm is named.
struct OverrideQuestion {
    std::string_view key;
    std::string_view plan;
    PlanDraft draft{};
    OverrideEnd end{};  // In the past: an earlier override ends.
};

struct KeyStanding {
    std::shared_ptr<const BookedPlan> plan;
    Inspection standing;
};

// The use cases of limits, for every door. Whatever is wrong with a question is found before anything is
// charged. A direct store is asked by the caller's thread, and completions run before the call returns; a
// blocking one is asked by workers, many checks at once, and completions run on those or by a timer.
// When the store fails, its plans' policies answer checks. A server of the store that hangs holds up the
// checks of its own lane only. After a deadline or Unavailable, the check may have been charged all the same.
// Thread safety: all of it.
class LimitService {
public:
    // The largest number of checks in one call.
    static constexpr std::size_t kChecksMax = 1'000;

    template <class T>
    using Done = UniqueFunction<void(Result<T, LimitError>)>;
    using EachDone = UniqueFunction<void(std::vector<LimitReply>)>;

    LimitService(const LimitServiceOptions& options, LimitServiceWorld world);
    ~LimitService() { stop(); }
    LimitService(const LimitService&) = delete;
    LimitService& operator=(const LimitService&) = delete;

    [[nodiscard]] PlanBook& plans() const { return world_.plans; }
    [[nodiscard]] const LimitServers& servers() const { return world_.servers; }

    // The answer, if it can be had within the call, which is much cheaper than a completion. Nothing: it must
    // be waited for, and nothing was charged; check() brings it.
    std::optional<LimitReply> check_at_once(const LimitQuestion& question);

    // Each by itself, in this order. REQUIRES: at most kChecksMax.
    void check_each(std::span<const LimitQuestion> questions, EachDone done);
    // All of them are charged, or none is. REQUIRES: 1 to kChecksMax.
    void check_together(std::span<const LimitQuestion> questions, Done<LimitAnswer> done);
    void check(const LimitQuestion& question, Done<LimitAnswer> done);
    // As if the store did not answer.
    LimitReply answer_without_store(const LimitQuestion& question);

    void refund(const LimitQuestion& question, Done<std::monostate> done);
    // False: the lease was not held any more.
    void release(std::string_view key, std::string_view plan, LeaseId lease, Done<bool> done);
    // Both: without names, all plans there are.
    void reset(std::string_view key, std::span<const std::string_view> plans, Done<std::monostate> done);
    void inspect(std::string_view key, std::span<const std::string_view> plans,
                 Done<std::vector<KeyStanding>> done);
    // Says when it ends, by the store's clock.
    void put_override(const OverrideQuestion& question, Done<Moment> done);

    // In force here when it is done, and within seconds on all nodes that share the store.
    void put_plan(const PlanDraft& draft, Done<std::shared_ptr<const BookedPlan>> done);
    // False: there was none.
    void remove_plan(std::string_view name, Done<bool> done);

    // Refuses new work and returns when all that was accepted is done.
    void stop();

private:
    class Errand;
    struct Gathering;
    using ErrandPtr = std::shared_ptr<Errand>;
    using Outcomes = std::vector<CheckOutcome>;
    using StoreReply = Result<Outcomes, StoreFailure>;
    using Checks = std::span<const ResolvedCheck>;
    using PlansInForce = std::shared_ptr<const PlanSet>;
    using Query = UniqueFunction<void(LimitStore&)>;
    using Chosen = std::vector<std::shared_ptr<const BookedPlan>>;

    [[nodiscard]] bool is_direct() const { return options_.calls == StoreCalls::Direct; }
    LimitReply check_direct(const LimitQuestion& question, const PlansInForce& plans);
    CheckOutcome take_direct(std::span<const Check> checks, bool together);
    // For blocking stores: what this node knows of the check already.
    std::optional<LimitReply> answer_here(const ResolvedCheck& check, const PlansInForce& plans);
    // What the store's word, or its silence, comes to for checks that were decided as one.
    LimitReply settle(Checks checks, const CheckOutcome& outcome, const PlansInForce& plans);
    LimitReply answer_of(Checks checks, const Verdict& verdict, const PlansInForce& plans);
    LimitReply fall_back(Checks checks, StoreFailure failure, const PlansInForce& plans);
    LimitReply counted(Checks checks, LimitReply reply);

    [[nodiscard]] std::size_t lane_of(const ResolvedCheck& check) const {
        return lanes_.size() > 1 ? world_.store.lane(check.key) : 0;
    }
    // Lets the errands bring what is gathered; one for each lane, or none.
    void send(std::span<const ErrandPtr> errands, const std::shared_ptr<Gathering>& gathering);
    void submit(const ErrandPtr& errand);
    std::vector<Outcomes> run(std::span<ErrandPtr> errands);
    // Asks for the single checks of errands, one after the other; those that are over are left out.
    Outcomes take_singles(std::span<const ErrandPtr> errands);
    CheckOutcome take_together(const Errand& errand);
    // REQUIRES: the errand was claimed by the caller.
    static void conclude(Errand& errand, const StoreReply& reply);
    [[nodiscard]] LimitStore& store() const { return node_ ? *node_ : world_.store; }

    template <class T, class Call>
    void ask(Call call, Done<T> done);
    [[nodiscard]] Result<Chosen, LimitError> choose(std::string_view key,
                                                    std::span<const std::string_view> names) const;

    const LimitServiceOptions options_;
    const LimitServiceWorld world_;
    FailPolicy policy_;
    // For blocking stores only.
    std::unique_ptr<NodeStore> node_;
    std::unique_ptr<Repeating> returns_;  // Gives blocks back that end.
    std::unique_ptr<DeadlineQueue> deadlines_;
    std::vector<std::unique_ptr<Combiner<ErrandPtr, Outcomes>>> lanes_;
    std::unique_ptr<Combiner<Query, std::monostate>> queries_;
};

}  // namespace sluice
