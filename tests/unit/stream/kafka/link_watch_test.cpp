#include "stream/kafka/link_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"

namespace sluice::kafka {
namespace {

using std::chrono::seconds;
using test::HandClock;
using test::RecordingLog;
using testing::ElementsAre;

class KafkaLinkWatch : public testing::Test {
protected:
    const Instant start_ = kEpoch + seconds{100};
    HandClock clock_{start_};
    RecordingLog log_;
    LinkWatch watch_{{"b:1"}, {clock_, log_}};
};

TEST_F(KafkaLinkWatch, IsNotUpBeforeTheFirstAnswer) {
    clock_.advance(seconds{1});
    watch_.counted(0);
    watch_.counted(0);
    watch_.counted(0);

    const auto state = watch_.state();
    EXPECT_FALSE(state.up);
    EXPECT_FALSE(state.ever_up);
    EXPECT_EQ(state.since, start_);
    EXPECT_EQ(state.reason, "Kafka at b:1 has not answered yet");
    EXPECT_THAT(log_.lines(), ElementsAre());
}

TEST_F(KafkaLinkWatch, TellsOnceThatAllAreDownAndWhy) {
    watch_.answered();
    clock_.advance(seconds{5});
    watch_.trouble("b:1: connection refused");
    watch_.all_down();
    clock_.advance(seconds{5});
    watch_.all_down();

    const auto state = watch_.state();
    EXPECT_FALSE(state.up);
    EXPECT_TRUE(state.ever_up);
    EXPECT_EQ(state.since, start_ + seconds{5});
    EXPECT_EQ(state.reason, "Kafka at b:1 is down: b:1: connection refused");
    EXPECT_THAT(log_.lines(), ElementsAre("INFO Kafka - Kafka at b:1 answers",
                                          "WARN Kafka - Kafka at b:1 is down: b:1: connection refused"));
}

TEST_F(KafkaLinkWatch, TakesOneConnectionLessForNothing) {
    watch_.counted(1);
    watch_.counted(0);
    watch_.counted(1);
    watch_.counted(0);

    EXPECT_TRUE(watch_.state().up);
}

TEST_F(KafkaLinkWatch, IsDownAfterTwoLooksWithoutAConnection) {
    watch_.counted(1);
    watch_.counted(0);
    watch_.counted(0);

    EXPECT_FALSE(watch_.state().up);
    EXPECT_EQ(watch_.state().reason, "Kafka at b:1 is down: no broker can be reached");
}

TEST_F(KafkaLinkWatch, IsUpAgainWithTheFirstConnection) {
    watch_.counted(1);
    watch_.all_down();
    clock_.advance(seconds{7});
    watch_.counted(1);

    const auto state = watch_.state();
    EXPECT_TRUE(state.up);
    EXPECT_EQ(state.since, start_ + seconds{7});
    EXPECT_EQ(state.reason, "");
    EXPECT_EQ(log_.count_starting("INFO"), 2);
    EXPECT_EQ(log_.count_starting("WARN"), 1);
}

}  // namespace
}  // namespace sluice::kafka
