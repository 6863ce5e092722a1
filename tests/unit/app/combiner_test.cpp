#include "app/combiner.hpp"

#include <barrier>
#include <future>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/gate.hpp"

namespace sluice {
namespace {

using test::Gate;
using testing::ElementsAre;
using testing::IsEmpty;
using Ints = Combiner<int, int>;
using Outcome = Result<int, Refusal>;

// Remembers every batch, answers ten times the request, and holds the first batch (request 0) at a gate.
class Recorder {
public:
    Ints::Run run() {
        return [this](std::span<int> batch) {
            {
                const std::lock_guard lock{mutex_};
                batches_.emplace_back(batch.begin(), batch.end());
            }
            std::vector<int> replies;
            for (const int request : batch) {
                if (request == kHeld) {
                    gate.pass();
                }
                replies.push_back(request * 10);
            }
            return replies;
        };
    }

    [[nodiscard]] std::vector<std::vector<int>> batches() const {
        const std::lock_guard lock{mutex_};
        return batches_;
    }

    static constexpr int kHeld = 0;
    Gate gate;

private:
    mutable std::mutex mutex_;
    std::vector<std::vector<int>> batches_;  // Guarded by mutex_.
};

// Outcomes in the order in which they came: "10", "overloaded", "expired", "stopped".
class Answers {
public:
    Ints::Ticket ticket(int request, std::size_t weight = 1, WhenFull when_full = WhenFull::Refuse) {
        return {request, [this](Outcome outcome) { add(outcome); }, SteadyTime::max(), weight, when_full};
    }
    Ints::Ticket until(SteadyTime deadline, Ints::Ticket ticket) {
        ticket.deadline = deadline;
        return ticket;
    }

    [[nodiscard]] std::vector<std::string> all() const {
        const std::lock_guard lock{mutex_};
        return all_;
    }

private:
    void add(const Outcome& outcome) {
        const std::lock_guard lock{mutex_};
        if (outcome) {
            all_.push_back(std::to_string(*outcome));
            return;
        }
        switch (outcome.error()) {
            case Refusal::Overloaded: all_.emplace_back("overloaded"); break;
            case Refusal::Expired: all_.emplace_back("expired"); break;
            case Refusal::Stopped: all_.emplace_back("stopped"); break;
        }
    }

    mutable std::mutex mutex_;
    std::vector<std::string> all_;  // Guarded by mutex_.
};

// A combiner whose only worker is held inside its first run, with an empty queue.
class HeldCombiner : public testing::Test {
protected:
    void TearDown() override { recorder_.gate.let_go(); }  // Also when an expectation failed before.

    void hold(CombinerLimits limits) {
        combiner_.emplace(*runtime_, limits, recorder_.run());
        combiner_->submit(answers_.ticket(Recorder::kHeld));
        recorder_.gate.await_arrival();
    }
    void finish() {
        recorder_.gate.let_go();
        combiner_->stop();
    }

    const std::unique_ptr<Runtime> runtime_ = make_machine_runtime();
    Recorder recorder_;
    Answers answers_;
    std::optional<Ints> combiner_;
};

TEST(Combiner, RunsALoneRequestByItself) {
    const auto runtime = make_machine_runtime();
    Recorder recorder;
    std::promise<int> answered;
    Ints combiner{*runtime, {}, recorder.run()};

    combiner.submit({7, [&](Outcome outcome) { answered.set_value(outcome.value()); }});

    EXPECT_EQ(answered.get_future().get(), 70);
    EXPECT_THAT(recorder.batches(), ElementsAre(ElementsAre(7)));
}

TEST_F(HeldCombiner, GrowsTheBatchWhileARunIsInProgress) {
    hold({});

    for (int request = 1; request <= 5; ++request) {
        combiner_->submit(answers_.ticket(request));
    }
    EXPECT_EQ(combiner_->waiting_approx(), 5U);
    finish();

    EXPECT_THAT(recorder_.batches(), ElementsAre(ElementsAre(0), ElementsAre(1, 2, 3, 4, 5)));
    EXPECT_THAT(answers_.all(), ElementsAre("0", "10", "20", "30", "40", "50"));
}

TEST_F(HeldCombiner, TakesNoMoreThanBatchMaxAtOnce) {
    hold({.batch_max = 2});

    for (int request = 1; request <= 5; ++request) {
        combiner_->submit(answers_.ticket(request));
    }
    finish();

    EXPECT_THAT(recorder_.batches(),
                ElementsAre(ElementsAre(0), ElementsAre(1, 2), ElementsAre(3, 4), ElementsAre(5)));
}

TEST_F(HeldCombiner, AnswersOverloadedAtOnceWhenTheQueueIsFull) {
    hold({.batch_max = 10, .queue_max = 3});
    for (int request = 1; request <= 3; ++request) {
        combiner_->submit(answers_.ticket(request));
    }
    EXPECT_THAT(answers_.all(), IsEmpty());

    combiner_->submit(answers_.ticket(4));

    EXPECT_THAT(answers_.all(), ElementsAre("overloaded")) << "before anything else went on";
    finish();
    EXPECT_THAT(answers_.all(), ElementsAre("overloaded", "0", "10", "20", "30"));
}

TEST_F(HeldCombiner, CountsTheQueueByWeight) {
    hold({.batch_max = 10, .queue_max = 10});

    combiner_->submit(answers_.ticket(1, 6));
    combiner_->submit(answers_.ticket(2, 5));
    combiner_->submit(answers_.ticket(3, 4));

    EXPECT_EQ(combiner_->waiting_approx(), 10U);
    EXPECT_THAT(answers_.all(), ElementsAre("overloaded"));
    finish();
    EXPECT_THAT(recorder_.batches(), ElementsAre(ElementsAre(0), ElementsAre(1, 3)));
}

TEST_F(HeldCombiner, FillsABatchByWeightWithoutOvertaking) {
    hold({.batch_max = 4, .queue_max = 100});

    combiner_->submit(answers_.ticket(1, 3));
    combiner_->submit(answers_.ticket(2, 2));
    combiner_->submit(answers_.ticket(3, 1));
    combiner_->submit(answers_.ticket(4, 2));
    finish();

    EXPECT_THAT(recorder_.batches(),
                ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2, 3), ElementsAre(4)));
}

TEST_F(HeldCombiner, RunsATicketHeavierThanBatchMaxAlone) {
    hold({.batch_max = 4, .queue_max = 100});

    combiner_->submit(answers_.ticket(1));
    combiner_->submit(answers_.ticket(2, 50));
    combiner_->submit(answers_.ticket(3));
    finish();

    EXPECT_THAT(recorder_.batches(),
                ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3)));
}

TEST_F(HeldCombiner, LetsATicketHeavierThanTheQueueIntoAnEmptyOne) {
    hold({.batch_max = 4, .queue_max = 10});

    combiner_->submit(answers_.ticket(1, 1000));
    combiner_->submit(answers_.ticket(2));

    EXPECT_THAT(answers_.all(), ElementsAre("overloaded"));
    finish();
    EXPECT_THAT(answers_.all(), ElementsAre("overloaded", "0", "10"));
}

TEST_F(HeldCombiner, DropsARequestPastItsDeadlineBeforeItRuns) {
    hold({});

    combiner_->submit(answers_.ticket(1));
    combiner_->submit(answers_.until(SteadyTime::min(), answers_.ticket(2)));
    combiner_->submit(answers_.ticket(3));
    finish();

    EXPECT_THAT(recorder_.batches(), ElementsAre(ElementsAre(0), ElementsAre(1, 3)));
    EXPECT_THAT(answers_.all(), ElementsAre("0", "expired", "10", "30"));
}

TEST_F(HeldCombiner, AnswersWhatIsLateWhileEveryWorkerIsBusy) {
    hold({});

    combiner_->submit(
        answers_.until(std::chrono::steady_clock::now() + std::chrono::milliseconds{20}, answers_.ticket(1)));
    combiner_->submit(answers_.ticket(2, 1, WhenFull::WaitForRoom));
    while (answers_.all().empty()) {
        std::this_thread::yield();
    }

    EXPECT_THAT(answers_.all(), ElementsAre("expired")) << "before its turn";
    EXPECT_EQ(combiner_->waiting_approx(), 0U);
    finish();
    EXPECT_THAT(recorder_.batches(), ElementsAre(ElementsAre(0), ElementsAre(2)));
}

// The run itself outlasts the deadline. A machine so slow that the ticket expires before its turn tries again
// with a later deadline.
TEST(Combiner, NeverExpiresARequestThatWasTaken) {
    const auto runtime = make_machine_runtime();
    for (std::chrono::milliseconds patience{20};; patience *= 2) {
        const SteadyTime deadline = std::chrono::steady_clock::now() + patience;
        std::promise<Outcome> answered;
        bool taken = false;
        Ints combiner{*runtime, {}, [&](std::span<int> batch) {
                          taken = true;
                          while (std::chrono::steady_clock::now() <= deadline) {
                              std::this_thread::yield();
                          }
                          return std::vector<int>(batch.size(), 1);
                      }};
        combiner.submit({5, [&](Outcome outcome) { answered.set_value(outcome); }, deadline});

        const Outcome outcome = answered.get_future().get();

        ASSERT_EQ(outcome.has_value(), taken);
        if (taken) {
            return;
        }
    }
}

TEST_F(HeldCombiner, ServesThoseWhoWaitForRoomAndTheOthersInTurns) {
    hold({.batch_max = 2, .queue_max = 2});
    for (int request = 3; request <= 7; ++request) {
        combiner_->submit(answers_.ticket(request, 1, WhenFull::WaitForRoom));
    }

    combiner_->submit(answers_.ticket(1));
    combiner_->submit(answers_.ticket(2));

    EXPECT_EQ(combiner_->waiting_approx(), 2U);
    EXPECT_THAT(answers_.all(), IsEmpty());
    finish();
    EXPECT_THAT(answers_.all(), ElementsAre("0", "30", "40", "10", "20", "50", "60", "70"));
}

TEST_F(HeldCombiner, GivesTheWholeQueueToThoseWhoDoNotWaitForRoom) {
    hold({.batch_max = 1, .queue_max = 4});
    combiner_->submit(answers_.ticket(1, 9, WhenFull::WaitForRoom));
    combiner_->submit(answers_.ticket(2, 1, WhenFull::WaitForRoom));
    EXPECT_EQ(combiner_->waiting_approx(), 0U);

    combiner_->submit(answers_.ticket(3, 2));
    combiner_->submit(answers_.ticket(4, 2));
    combiner_->submit(answers_.ticket(5, 1));
    finish();

    EXPECT_THAT(answers_.all(), ElementsAre("overloaded", "0", "10", "30", "20", "40"));
}

TEST_F(HeldCombiner, LetsNobodyOvertakeAmongThoseWhoWaitForRoom) {
    hold({.batch_max = 1, .queue_max = 4});

    combiner_->submit(answers_.ticket(1, 1, WhenFull::WaitForRoom));
    combiner_->submit(answers_.ticket(2, 20, WhenFull::WaitForRoom));
    combiner_->submit(answers_.ticket(3, 1, WhenFull::WaitForRoom));
    finish();

    EXPECT_THAT(answers_.all(), ElementsAre("0", "10", "20", "30"));
}

TEST_F(HeldCombiner, DrainsWhatWaitsAndRefusesTheRestWhenStopped) {
    hold({.batch_max = 1, .queue_max = 2});
    combiner_->submit(answers_.ticket(1));
    combiner_->submit(answers_.ticket(2));
    combiner_->submit(answers_.ticket(3, 1, WhenFull::WaitForRoom));
    std::jthread stopping{[this] { combiner_->stop(); }};
    // The queue is full, so a probe is refused either way; what it is told shows that the stop has begun.
    while (answers_.all().empty() || answers_.all().back() != "stopped") {
        combiner_->submit(answers_.ticket(99));
        std::this_thread::yield();
    }

    combiner_->submit(answers_.ticket(4, 1, WhenFull::WaitForRoom));
    recorder_.gate.let_go();
    stopping.join();

    auto all = answers_.all();
    std::erase(all, "overloaded");
    EXPECT_THAT(all, ElementsAre("stopped", "stopped", "0", "30", "10", "20"));
}

TEST(Combiner, MayBeStoppedTwiceAndFromSeveralThreads) {
    const auto runtime = make_machine_runtime();
    Recorder recorder;
    Answers answers;
    Ints combiner{*runtime, {}, recorder.run()};
    combiner.submit(answers.ticket(1));
    {
        std::jthread one{[&] { combiner.stop(); }};
        std::jthread other{[&] { combiner.stop(); }};
    }

    combiner.stop();

    EXPECT_THAT(answers.all(), ElementsAre("10"));
}

TEST(Combiner, CompletesAllThatItTookBeforeItIsGone) {
    const auto runtime = make_machine_runtime();
    Recorder recorder;
    Answers answers;
    {
        Ints combiner{*runtime, {.batch_max = 3}, recorder.run()};
        for (int request = 1; request <= 100; ++request) {
            combiner.submit(answers.ticket(request));
        }
    }

    EXPECT_EQ(answers.all().size(), 100U);
}

TEST(Combiner, MayBeGivenMoreWorkByACompletion) {
    const auto runtime = make_machine_runtime();
    Recorder recorder;
    std::promise<int> answered;
    Ints combiner{*runtime, {}, recorder.run()};

    combiner.submit(
        {1, [&](Outcome first) {
             combiner.submit({first.value(), [&](Outcome second) { answered.set_value(*second); }});
         }});

    EXPECT_EQ(answered.get_future().get(), 100);
}

// Each run waits for the other one: with fewer workers than two this would never end.
TEST(Combiner, RunsAsManyBatchesAtOnceAsItHasWorkers) {
    const auto runtime = make_machine_runtime();
    std::barrier both{2};
    Answers answers;
    {
        Ints combiner{*runtime, {.batch_max = 1, .queue_max = 10, .workers = 2}, [&](std::span<int> batch) {
                          both.arrive_and_wait();
                          return std::vector<int>(batch.begin(), batch.end());
                      }};
        combiner.submit(answers.ticket(1));
        combiner.submit(answers.ticket(2));
    }

    EXPECT_THAT(answers.all(), testing::UnorderedElementsAre("1", "2"));
}

// The same with those who wait for room, more of them than the queue has room for.
TEST(Combiner, WakesEveryIdleWorkerForThoseWhoWaitForRoom) {
    const auto runtime = make_machine_runtime();
    constexpr int kWorkers = 4;
    std::barrier all{kWorkers};
    Answers answers;
    {
        Ints combiner{
            *runtime, {.batch_max = 1, .queue_max = 1, .workers = kWorkers}, [&](std::span<int> batch) {
                all.arrive_and_wait();
                return std::vector<int>(batch.begin(), batch.end());
            }};
        for (int request = 0; request < 25 * kWorkers; ++request) {
            combiner.submit(answers.ticket(request, 1, WhenFull::WaitForRoom));
        }
    }

    EXPECT_EQ(answers.all().size(), 100U);
}

}  // namespace
}  // namespace sluice
