// Places at gates for calls that others make.
#include "app/dispatch/permit_office.hpp"

#include <gtest/gtest.h>

#include "support/dispatch_nodes.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using Why = PermitRefusal::Why;

const Subject kLent{SubjectKind::Pool, "lent"};

struct Answered {
    std::optional<Result<GivenPermit, PermitRefusal>> answer{};

    [[nodiscard]] bool is_given() const { return answer && *answer; }
    [[nodiscard]] std::optional<Why> refused() const {
        return answer && !*answer ? std::optional{answer->error().why} : std::nullopt;
    }
};
using Asking = std::shared_ptr<Answered>;

Asking ask(Dispatcher& dispatcher, const Subject& gate = kLent) {
    auto asking = std::make_shared<Answered>();
    dispatcher.permits().ask(
        gate, [asking](Result<GivenPermit, PermitRefusal> answer) { asking->answer = answer; });
    return asking;
}

void end(Dispatcher& dispatcher, const std::string& id) {
    dispatcher.permits().end(id, [](bool) {});
}

std::size_t count_given(const std::vector<Asking>& asked) {
    return static_cast<std::size_t>(
        std::ranges::count_if(asked, [](const Asking& one) { return one->is_given(); }));
}

// A stage with an open gate.
std::unique_ptr<DispatchStage> stage_with(GateTerms terms) {
    auto stage = std::make_unique<DispatchStage>();
    (void)stage->store().put_rate(kLent, terms, "me");
    stage->pass(2s);
    return stage;
}

TEST(PermitOffice, GivesAPlaceAtOnceWhereThereIsOne) {
    const auto stage = stage_with({10});

    const auto asked = ask(stage->dispatcher());
    stage->pass(10ms);

    ASSERT_TRUE(asked->is_given());
    EXPECT_EQ((**asked->answer).id.size(), 32U);
    EXPECT_GE((**asked->answer).not_before, stage->now() - 10ms);
    EXPECT_EQ(stage->dispatcher().figures().gates[0].out, 1U);
}

TEST(PermitOffice, SpacesThemAndGivesNoMoreThanTheRate) {
    const auto stage = stage_with({10});
    std::vector<Asking> asked;
    for (int i = 0; i < 30; ++i) {
        asked.push_back(ask(stage->dispatcher()));
    }

    stage->pass(5s);

    EXPECT_EQ(count_given(asked), 10U) << "Nobody said that a call is over.";
    std::vector<SteadyTime> times;
    for (const Asking& one : asked) {
        if (one->is_given()) {
            times.emplace_back((**one->answer).not_before.time_since_epoch());
        } else {
            EXPECT_EQ(one->refused(), Why::Busy);
            EXPECT_GE(one->answer->error().retry_after, 1s);
        }
    }
    for (std::size_t i = 1; i < times.size(); ++i) {
        EXPECT_GE(times[i] - times[i - 1], 93ms);
    }
}

TEST(PermitOffice, FreesAPlaceASecondAfterItsCall) {
    const auto stage = stage_with({1});
    const auto first = ask(stage->dispatcher());
    stage->pass(100ms);
    ASSERT_TRUE(first->is_given());
    const Instant ended = stage->now();
    end(stage->dispatcher(), (**first->answer).id);

    const auto second = ask(stage->dispatcher());
    stage->pass(1'500ms);

    ASSERT_TRUE(second->is_given());
    EXPECT_GE((**second->answer).not_before, ended + 1s);
    EXPECT_LE((**second->answer).not_before, ended + 1'050ms);
}

TEST(PermitOffice, TakesAPlaceBackThatNobodySaysIsOver) {
    const auto stage = stage_with({1});
    const auto first = ask(stage->dispatcher());
    stage->pass(15s);

    const auto second = ask(stage->dispatcher());
    stage->pass(2s);

    ASSERT_TRUE(first->is_given());
    ASSERT_TRUE(second->is_given());
    EXPECT_GE((**second->answer).not_before, (**first->answer).not_before + 16'100ms);
}

TEST(PermitOffice, HoldsWhereCallsLeaveIfThatIsTheRate) {
    const auto stage = stage_with({1, RateHolds::Sender});
    const auto first = ask(stage->dispatcher());
    stage->pass(10ms);

    const auto second = ask(stage->dispatcher());
    stage->pass(1'500ms);

    ASSERT_TRUE(second->is_given());
    EXPECT_GE((**second->answer).not_before, (**first->answer).not_before + 1'100ms);
}

TEST(PermitOffice, TellsWhyThereIsNone) {
    const auto stage = stage_with({1});

    const auto no_gate = ask(stage->dispatcher(), {SubjectKind::Host, "nowhere"});
    std::vector<Asking> many;
    for (std::size_t i = 0; i < PermitOffice::kWaitingMax + 5; ++i) {
        many.push_back(ask(stage->dispatcher()));
    }
    stage->pass(5s);
    stage->store().fail_at(1, NaiveWorkStore::Fails::Before, true);
    stage->store().add({"e", stage->now()});
    stage->pass(10ms);
    const auto no_store = ask(stage->dispatcher());
    stage->pass(10ms);
    stage->store().heal();

    EXPECT_EQ(no_gate->refused(), Why::NoGate);
    EXPECT_EQ(many.back()->refused(), Why::Overloaded);
    EXPECT_EQ(no_store->refused(), Why::Unavailable);
}

TEST(PermitOffice, GivesNothingThatIsNotStored) {
    const auto stage = stage_with({10});
    stage->store().fail_at(1, NaiveWorkStore::Fails::After);

    const auto asked = ask(stage->dispatcher());
    stage->pass(10ms);

    EXPECT_EQ(asked->refused(), Why::Unavailable);
}

TEST(PermitOffice, RefusesAllAtTheEnd) {
    const auto stage = stage_with({1});
    const auto first = ask(stage->dispatcher());
    const auto second = ask(stage->dispatcher());
    stage->pass(10ms);

    stage->dispatcher().stop();
    const auto late = ask(stage->dispatcher());

    EXPECT_TRUE(first->is_given());
    EXPECT_EQ(second->refused(), Why::Unavailable);
    EXPECT_EQ(late->refused(), Why::Unavailable);
}

TEST(PermitOffice, CountsWhatAProcessBeforeGave) {
    const auto stage = stage_with({1});
    const auto first = ask(stage->dispatcher());
    stage->pass(10ms);

    stage->kill();
    stage->start();
    const auto second = ask(stage->dispatcher());
    stage->pass(3s);
    EXPECT_EQ(second->refused(), Why::Busy);
    end(stage->dispatcher(), (**first->answer).id);
    const auto third = ask(stage->dispatcher());
    stage->pass(2s);

    EXPECT_TRUE(third->is_given());
}

// A call that somebody outside makes with a permit, as it is seen where it arrives.
struct OutsideCaller {
    DispatchNodes& nodes;
    Random& random;
    std::vector<SteadyTime> arrived{};

    // Asks somebody, calls as late as may be, and tells somebody that it is over, or nobody.
    void call() {
        for (std::size_t node = 0; node < 2; ++node) {
            auto done = [this, node](Result<GivenPermit, PermitRefusal> answer) {
                if (answer) {
                    const SteadyTime begins{answer->not_before.time_since_epoch()};
                    const SteadyTime arrives = begins + std::chrono::milliseconds{random.below(101)};
                    arrived.push_back(arrives);
                    if (random.below(10) != 0) {
                        over.emplace(arrives + std::chrono::milliseconds{random.below(200)},
                                     std::pair{random.below(2), answer->id});
                    }
                }
            };
            nodes.dispatcher(node).permits().ask(kLent, std::move(done));
        }
    }
    void end_all_that_are_over() {
        while (!over.empty() && over.begin()->first <= nodes.steady()) {
            const auto [node, id] = over.begin()->second;
            end(nodes.dispatcher(node), id);
            over.erase(over.begin());
        }
    }

    std::multimap<SteadyTime, std::pair<std::size_t, std::string>> over{};
};

class PermitNodes : public testing::TestWithParam<std::uint64_t> {};

TEST_P(PermitNodes, ShareTheRateWithWorksWhateverHappensToTheKeeper) {
    Random random{GetParam()};
    DispatchNodes nodes{{.seed = GetParam(), .lease = 1'500ms}};
    (void)nodes.store().put_rate(kLent, GateTerms{20}, "me");
    nodes.pass(6s);
    for (int i = 0; i < 600; ++i) {
        nodes.store().add({"p" + std::to_string(i), nodes.now(), "lent"});
    }
    OutsideCaller caller{nodes, random};

    for (int i = 0; i < 1'500; ++i) {
        caller.call();
        nodes.pass(20ms);
        caller.end_all_that_are_over();
        if (i % 300 == 299) {
            nodes.freeze(nodes.keeper().value_or(0), std::chrono::milliseconds{random.below(3'000)});
        }
    }
    nodes.pass(3min);

    auto times = nodes.arrival_times();
    EXPECT_EQ(times.size(), 600U);
    EXPECT_GT(caller.arrived.size(), 60U);
    times.insert(times.end(), caller.arrived.begin(), caller.arrived.end());
    std::ranges::sort(times);
    EXPECT_LE(fullest_second(times), 20U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, PermitNodes, testing::Range<std::uint64_t>(1, 7));

TEST(PermitOffice, BelongsToTheKeeperAndHearsFromEverybodyThatACallIsOver) {
    DispatchNodes nodes{{}};
    (void)nodes.store().put_rate(kLent, GateTerms{1}, "me");
    nodes.pass(6s);
    const std::size_t keeper = nodes.keeper().value();

    const auto elsewhere = ask(nodes.dispatcher(1 - keeper));
    const auto first = ask(nodes.dispatcher(keeper));
    nodes.pass(100ms);
    ASSERT_TRUE(first->is_given());
    end(nodes.dispatcher(1 - keeper), (**first->answer).id);
    nodes.pass(1'500ms);
    const auto second = ask(nodes.dispatcher(keeper));
    nodes.pass(2s);

    EXPECT_EQ(elsewhere->refused(), Why::NotKeeper);
    EXPECT_TRUE(second->is_given());
}

}  // namespace
}  // namespace sluice::test
