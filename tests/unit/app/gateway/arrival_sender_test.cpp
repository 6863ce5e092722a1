#include "app/gateway/arrival_sender.hpp"

#include <deque>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/hand_clock.hpp"
#include "support/limit_words.hpp"
#include "support/recording_log.hpp"
#include "support/virtual_runtime.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// What the test lets come, and what the sender says is done.
class ScriptedArrivals final : public Arrivals {
public:
    void listen(std::function<void()> arrived) override { arrived_ = std::move(arrived); }
    std::vector<Arrival> take(std::size_t most) override {
        ++looks;
        std::vector<Arrival> taken;
        while (taken.size() < most && !waiting.empty()) {
            taken.push_back(std::move(waiting.front()));
            waiting.pop_front();
        }
        return taken;
    }
    void done(std::span<const Arrival> arrivals) override {
        for (const Arrival& arrival : arrivals) {
            finished.push_back(arrival.offset);
        }
    }

    void come(Result<OutgoingMessage, std::string> message) {
        waiting.push_back({0, next_++, std::move(message)});
        if (arrived_) {
            arrived_();
        }
    }
    [[nodiscard]] bool has_listener() const { return static_cast<bool>(arrived_); }

    std::deque<Arrival> waiting;
    std::vector<std::int64_t> finished;
    int looks = 0;

private:
    std::function<void()> arrived_;
    std::int64_t next_ = 0;
};

class ScriptedOutlet final : public MessageOutlet {
public:
    bool send(const OutgoingMessage& message) override {
        tried.push_back(message.text);
        if (before_send) {
            before_send();
        }
        return well;
    }
    std::vector<std::string> tried;
    std::function<void()> before_send;
    bool well = true;
};

OutgoingMessage message(const std::string& text) {
    return {.id = *MessageId::make("id " + text), .user = {7}, .text = text};
}

class ArrivalSenderTest : public testing::Test {
protected:
    void start(ArrivalSenderOptions options = {}) {
        sender_ = std::make_unique<ArrivalSender>(
            options, ArrivalSender::World{arrivals_, outlet_, wall_, log_, runtime_});
        runtime_.sleep(1ms);
    }
    void come(Result<OutgoingMessage, std::string> message) {
        arrivals_.come(std::move(message));
        runtime_.sleep(1ms);
    }

    HandMomentClock clock_{kMidnight};
    VirtualRuntime runtime_{1, clock_};
    HandClock wall_{kEpoch + std::chrono::hours{1}};
    RecordingLog log_;
    ScriptedArrivals arrivals_;
    ScriptedOutlet outlet_;
    std::unique_ptr<ArrivalSender> sender_;
};

TEST_F(ArrivalSenderTest, SendsWhatHasComeBeforeAndWhatComesAfterTheStartInOrder) {
    arrivals_.come(message("a"));
    arrivals_.come(message("b"));
    start();

    come(message("c"));

    EXPECT_THAT(outlet_.tried, ElementsAre("a", "b", "c"));
    EXPECT_THAT(arrivals_.finished, ElementsAre(0, 1, 2));
    EXPECT_EQ(sender_->counts().sent, 3);
}

TEST_F(ArrivalSenderTest, LooksNowhereWhileNothingComes) {
    start();
    const int before = arrivals_.looks;

    runtime_.sleep(1h);

    EXPECT_EQ(arrivals_.looks, before);
}

TEST_F(ArrivalSenderTest, SaysThatAMessageIsDoneOnlyWhenItWasSent) {
    std::vector<std::size_t> finished_before;
    outlet_.before_send = [&] { finished_before.push_back(arrivals_.finished.size()); };
    start({.batch_max = 1});

    arrivals_.come(message("a"));
    come(message("b"));

    EXPECT_THAT(finished_before, ElementsAre(0, 1));
}

TEST_F(ArrivalSenderTest, SkipsAMalformedMessageAndSaysWhereItStands) {
    start();

    come(Unexpected<std::string>{"it has no value"});
    come(message("good"));

    EXPECT_THAT(outlet_.tried, ElementsAre("good"));
    EXPECT_THAT(arrivals_.finished, ElementsAre(0, 1));
    EXPECT_THAT(
        log_.lines(),
        ElementsAre("WARN Sender - Skipped a malformed message, partition 0, offset 0: it has no value"));
    EXPECT_EQ(sender_->counts().malformed, 1);
}

TEST_F(ArrivalSenderTest, DoesNotSendWhatHasExpired) {
    start();
    auto late = message("late");
    late.expires = wall_.now();
    auto timely = message("timely");
    timely.expires = wall_.now() + Duration{1};

    come(late);
    come(timely);

    EXPECT_THAT(outlet_.tried, ElementsAre("timely"));
    EXPECT_THAT(arrivals_.finished, ElementsAre(0, 1));
    EXPECT_EQ(sender_->counts().expired, 1);
}

TEST_F(ArrivalSenderTest, SendsADoubledMessageOnceAsLongAsItIsRemembered) {
    start({.ids_max = 2});

    for (const char* const text : {"a", "a", "b", "a", "c", "d", "a"}) {
        come(message(text));
    }

    EXPECT_THAT(outlet_.tried, ElementsAre("a", "b", "c", "d", "a"));
    EXPECT_THAT(arrivals_.finished, SizeIs(7));
    EXPECT_EQ(sender_->counts().doubled, 2);
}

TEST_F(ArrivalSenderTest, TriesAMessageAgainUntilItIsSentAndKeepsTheOrder) {
    start();
    outlet_.well = false;
    come(message("a"));
    come(message("b"));
    runtime_.sleep(1min);
    const std::size_t tries = outlet_.tried.size();
    EXPECT_THAT(outlet_.tried, testing::Each("a"));
    EXPECT_THAT(arrivals_.finished, IsEmpty());

    outlet_.well = true;
    runtime_.sleep(10s);

    EXPECT_GE(tries, 6);
    EXPECT_LE(tries, 30);
    EXPECT_THAT(std::vector(outlet_.tried.begin() + static_cast<long>(tries), outlet_.tried.end()),
                ElementsAre("a", "b"));
    EXPECT_THAT(arrivals_.finished, ElementsAre(0, 1));
    EXPECT_EQ(log_.count_starting("WARN Sender - A message cannot be sent"), 1);
    EXPECT_EQ(sender_->counts().failed, tries);
}

TEST_F(ArrivalSenderTest, LeavesWhatItHasNotSentToOthersWhenItStops) {
    start();
    outlet_.before_send = [this] {
        if (outlet_.tried.size() == 2) {
            runtime_.sleep(5ms);  // The stop comes meanwhile.
        }
    };
    for (const char* const text : {"a", "b", "c"}) {
        arrivals_.come(message(text));
    }
    runtime_.sleep(1ms);

    sender_->stop();
    arrivals_.waiting.clear();

    EXPECT_THAT(outlet_.tried, ElementsAre("a", "b"));
    EXPECT_THAT(arrivals_.finished, ElementsAre(0, 1));
    EXPECT_FALSE(arrivals_.has_listener());
}

}  // namespace
}  // namespace sluice::test
