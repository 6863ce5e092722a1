// The service of limits in one thread on virtual time, over a store with a breaker before its server, which
// stands still and refuses for a while, until it is shut down in the middle of something.
#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "app/limits/limit_service.hpp"
#include "store/memory/memory_limit_store.hpp"
#include "support/counting_limit_metrics.hpp"
#include "support/recording_log.hpp"
#include "support/simulation.hpp"

namespace sluice::test {
namespace {

// Since the beginning: the server answers, stands still, answers, refuses, and answers again.
constexpr Wait kStall = 300ms;
constexpr Wait kStallEnd = 1'300ms;
constexpr Wait kRefusing = 2'600ms;
constexpr Wait kRefusingEnd = 3'000ms;
constexpr Wait kEnd = 4'300ms;

constexpr std::chrono::milliseconds kDeadline{50};
constexpr Wait kTimeout = 40ms;     // How long the store waits for the server.
constexpr Wait kRecovery = 1s;      // Within which the breaker sees that a server is back.
constexpr Tokens kSafeTokens = 30;  // Of the plan that is closed while the store fails; none come back.
constexpr int kClients = 8;
constexpr std::uint64_t kKeys = 4;

// A server with a breaker before it, as stores have it.
class ServerFarAway final : public LimitStore, public ServerObserver {
public:
    ServerFarAway(VirtualRuntime& runtime, Story& story, LimitStore& real, std::uint64_t seed)
        : runtime_{runtime},
          story_{story},
          real_{real},
          random_{seed},
          watch_{{"the server", kDeadline, runtime, this, seed}, [this] { return ask(kDeadline); }} {}

    void take(std::span<const Check> checks, std::span<CheckOutcome> outcomes) override {
        if (answers()) {
            real_.take(checks, outcomes);
        } else {
            std::ranges::fill(outcomes, Unexpected{LimitFault::Unavailable});
        }
    }
    CheckOutcome take_together(std::span<const Check> checks) override {
        return answers() ? real_.take_together(checks) : CheckOutcome{Unexpected{LimitFault::Unavailable}};
    }
    Result<void, LimitFault> refund(const Check& check) override {
        return answers() ? real_.refund(check) : Unexpected{LimitFault::Unavailable};
    }
    Result<bool, LimitFault> release(std::string_view key, const Plan& plan, LeaseId lease) override {
        return real_.release(key, plan, lease);
    }
    Result<void, LimitFault> reset(std::string_view key, std::span<const Plan* const> plans) override {
        return answers() ? real_.reset(key, plans) : Unexpected{LimitFault::Unavailable};
    }
    Result<std::vector<Inspection>, LimitFault> inspect(std::string_view key,
                                                        std::span<const Plan* const> plans) override {
        if (!answers()) {
            return Unexpected{LimitFault::Unavailable};
        }
        return real_.inspect(key, plans);
    }
    Result<Moment, LimitFault> put_override(std::string_view key, const Plan& plan,
                                            const LimitOverride& replacement) override {
        return real_.put_override(key, plan, replacement);
    }
    void gave_up_on(std::string_view /*key*/) override { watch_.failed("no answer in time"); }

    void server_down(const std::string& server, const std::string& reason) override {
        story_.tell(server + " is down: " + reason);
        down_at.push_back(story_.now());
    }
    void server_up(const std::string& server) override {
        story_.tell(server + " is up");
        up_at.push_back(story_.now());
    }
    void server_left(const std::string& server) override { story_.tell(server + " is left"); }

    std::vector<Wait> down_at;
    std::vector<Wait> up_at;

private:
    // A call of the store, without what it is for. False: there was no answer, or a refusal.
    bool answers() {
        if (watch_.down()) {
            return false;
        }
        if (const auto trouble = ask(kTimeout)) {
            watch_.failed(*trouble);
            return false;
        }
        watch_.answered();
        return true;
    }

    // A round trip to the server. Says why it failed.
    std::optional<std::string> ask(Wait timeout) {
        const Wait until = story_.now() + timeout;
        runtime_.sleep(Wait{100 + random_.below(3'000)});
        if (story_.now() >= kStall && story_.now() < kStallEnd) {
            runtime_.sleep(std::min(until, kStallEnd) - story_.now());
            return story_.now() < kStallEnd ? std::optional<std::string>{"silence"} : std::nullopt;
        }
        const bool refuses = story_.now() >= kRefusing && story_.now() < kRefusingEnd;
        return refuses ? std::optional<std::string>{"a refusal"} : std::nullopt;
    }

    VirtualRuntime& runtime_;
    Story& story_;
    LimitStore& real_;
    Random random_;
    ServerWatch watch_;
};

std::string word_for(const LimitReply& reply) {
    if (!reply) {
        return "error: " + reply.error().detail;
    }
    switch (reply->reason) {
        case LimitReason::Ok: return "ok";
        case LimitReason::Denied: return "denied";
        case LimitReason::FailOpen: return "fail open";
        case LimitReason::FailClosed: return "fail closed";
        case LimitReason::Local: return reply->allowed ? "local ok" : "local denied";
        default: return "another reason";
    }
}

bool is_without_store(const std::string& outcome) {
    return outcome.starts_with("fail") || outcome.starts_with("local");
}

// A world of its own, which the seed determines alone.
class LimitSimulation {
public:
    explicit LimitSimulation(std::uint64_t seed)
        : random_{seed + 1'000},
          runtime_{seed, clock_},
          stop_at_{Wait{100'000 + random_.below(4'200'000)}},
          server_{runtime_, story_, *memory_, seed} {}

    void live() {
        ASSERT_TRUE(book_.load({
            {.name = "gold", .algorithm = "token_bucket", .capacity = 100, .refill = "100/s"},
            {.name = "safe",
             .algorithm = "token_bucket",
             .capacity = kSafeTokens,
             .refill = "1/d",
             .on_store_failure = "closed"},
            {.name = "near",
             .algorithm = "token_bucket",
             .capacity = 1'000,
             .refill = "1/s",
             .on_store_failure = "local"},
            {.name = "block", .algorithm = "token_bucket", .capacity = 50, .refill = "50/s", .lease = 5},
        }));
        LimitServiceOptions options;
        options.calls = StoreCalls::Blocking;
        options.deadline = kDeadline;
        options.batches = {.batch_max = 4, .queue_max = 12, .workers = 2};
        options.node.denials.longest = 10ms;
        options.node.blocks.lease_time = 100ms;
        LimitService service{options, {server_, *local_, book_, metrics_, servers_, runtime_}};
        const auto clients = runtime_.hire(kClients);
        for (int client = 0; client < kClients; ++client) {
            clients->post([this, &service, client] { ask_on(service, client); });
        }
        runtime_.sleep(stop_at_);
        story_.tell("stop");
        service.stop();
        story_.tell("stopped");
        stopped_at_ = story_.now();
        clients->finish();
    }

    [[nodiscard]] const Story& story() const { return story_; }
    [[nodiscard]] Wait stop_at() const { return stop_at_; }

    // What holds in every world.
    void judge() const {
        for (const auto& [name, request] : story_.requests()) {
            SCOPED_TRACE(name + " -> " + request.outcome);
            ASSERT_EQ(request.answers, 1);
            judge(request);
        }
        for (const auto& [key, tokens] : safe_taken_) {
            EXPECT_LE(tokens, kSafeTokens) << key;
        }
        judge_breaker();
        // What waits is worked off in time-outs of the store, and so is what is given back to it.
        EXPECT_LE(stopped_at_ - stop_at_, 300ms) << "what was accepted took too long";
    }

private:
    void judge(const Story::Request& request) const {
        const Wait waited = request.answered - request.submitted;
        EXPECT_LE(waited, Wait{kDeadline}) << "answered after its deadline";
        EXPECT_FALSE(request.outcome.starts_with("error") || request.outcome.starts_with("another"));
        if (is_without_store(request.outcome)) {
            EXPECT_FALSE(is_well(request.submitted)) << "the store would have answered";
        }
        if (request.submitted > stop_at_ && is_without_store(request.outcome)) {
            EXPECT_TRUE(request.submitted <= stopped_at_ || waited == Wait{0}) << "refused too late";
        }
    }
    // Whether nothing is wrong with the server at this time and until a deadline later, and the breaker has
    // had its time to see that.
    [[nodiscard]] bool is_well(Wait time) const {
        const bool before = time + kDeadline < kStall;
        const bool between = time >= kStallEnd + kRecovery && time + kDeadline < kRefusing;
        const bool after = time >= kRefusingEnd + kRecovery;
        return (before || between || after) && time + kDeadline < stop_at_;
    }

    void judge_breaker() const {
        if (stop_at_ < kStall + kRecovery) {
            return;
        }
        ASSERT_FALSE(server_.down_at.empty()) << "the breaker stayed closed";
        // Three questions that fail, or silence for three patiences.
        EXPECT_GE(server_.down_at.front(), kStall + 3 * Wait{kDeadline});
        EXPECT_LE(server_.down_at.front(), kStall + 300ms);
        ASSERT_FALSE(server_.up_at.empty()) << "the breaker stayed open";
        EXPECT_GE(server_.up_at.front(), kStallEnd);
        EXPECT_LE(server_.up_at.front(), kStallEnd + kRecovery);
    }

    void ask_on(LimitService& service, int client) {
        constexpr std::array<std::string_view, 4> kPlans{"gold", "safe", "near", "block"};
        for (int number = 0; story_.now() < kEnd; ++number) {
            runtime_.sleep(Wait{random_.below(30'000)});
            ask(service, "c" + std::to_string(client) + "-" + std::to_string(number),
                kPlans.at(random_.below(kPlans.size())));
        }
    }
    void ask(LimitService& service, const std::string& number, std::string_view plan) {
        const std::string key = "k" + std::to_string(random_.below(kKeys));
        const std::string name = number + " " + std::string{plan} + " " + key;
        story_.submit(name);
        service.check({key, {&plan, 1}, 1}, [this, name, key, plan](const LimitReply& reply) {
            story_.answer(name, word_for(reply));
            safe_taken_[key] += plan == "safe" && reply && reply->allowed ? 1 : 0;
        });
    }

    Random random_;
    HandMomentClock clock_{kMidnight};
    VirtualRuntime runtime_;
    Story story_{clock_};
    const Wait stop_at_;
    Wait stopped_at_{};
    std::map<std::string, Tokens> safe_taken_;
    PlanBook book_;
    CountingLimitMetrics metrics_;
    RecordingLog log_;
    LimitServers servers_{log_, metrics_};
    std::unique_ptr<MemoryLimitStore> memory_ = make_memory_limit_store({.keys_max = 100, .seed = 7}, clock_);
    std::unique_ptr<MemoryLimitStore> local_ = make_memory_limit_store({.keys_max = 100, .seed = 8}, clock_);
    ServerFarAway server_;
};

std::string story_of(std::uint64_t seed) {
    LimitSimulation world{seed};
    world.live();
    return world.story().text();
}

TEST(LimitSimulation, KeepsItsPromisesThroughStallsRefusalsRecoveryAndShutdown) {
    std::map<std::string, int> seen;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        LimitSimulation world{seed};
        world.live();
        world.judge();
        if (testing::Test::HasFailure()) {
            FAIL() << world.story().text();
        }
        for (const auto& [name, request] : world.story().requests()) {
            ++seen[request.outcome];
            const Wait waited = request.answered - request.submitted;
            seen["in its last moment"] += waited == Wait{kDeadline} ? 1 : 0;
            seen["at once"] += is_without_store(request.outcome) && waited == Wait{0} ? 1 : 0;
        }
        seen["stopped in a stall"] += world.stop_at() > kStall && world.stop_at() < kStallEnd ? 1 : 0;
    }

    for (const char* const what : {"ok", "denied", "fail open", "fail closed", "local ok",
                                   "in its last moment", "at once", "stopped in a stall"}) {
        EXPECT_GT(seen[what], static_cast<int>(kSeeds / 20))
            << what << ": what is tested is too tame to say anything";
    }
}

TEST(LimitSimulation, TellsTheSameStoryForTheSameSeed) {
    std::set<std::string> stories;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const std::string story = story_of(seed);
        EXPECT_EQ(story_of(seed), story);
        stories.insert(story);
    }

    EXPECT_EQ(stories.size(), 10U);
}

}  // namespace
}  // namespace sluice::test
