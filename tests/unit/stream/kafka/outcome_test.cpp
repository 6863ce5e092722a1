// What brokers answer, and what publishers hear. On librdkafka's mock, which gives every answer on demand.
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/kafka_probe.hpp"
#include "support/mock_kafka.hpp"

namespace sluice::kafka {
namespace {

using std::chrono::milliseconds;
using test::impatient;
using test::KafkaProbe;
using test::MockKafka;
using testing::HasSubstr;

class KafkaOutcome : public testing::Test {
protected:
    Report after(const std::vector<rd_kafka_resp_err_t>& answers) {
        mock_.answer(MockKafka::kProduce, answers);
        return probe_.outcome_of({.topic = "t", .value = "v"});
    }

    MockKafka mock_;
    KafkaProbe probe_{impatient(mock_.brokers())};
};

TEST_F(KafkaOutcome, IsDeliveredWhenTheBrokerAcknowledges) {
    const auto report = after({});

    EXPECT_EQ(report.outcome, Outcome::Delivered);
    EXPECT_EQ(report.reason, "");
    EXPECT_TRUE(probe_.producer().state().up);
}

TEST_F(KafkaOutcome, IsDeliveredAfterErrorsThatPassAndOnesOfWhichTheBrokerKnowsTheMessage) {
    for (const auto error :
         {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND,
          RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
          RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR, RD_KAFKA_RESP_ERR_DUPLICATE_SEQUENCE_NUMBER}) {
        EXPECT_EQ(after({error}).outcome, Outcome::Delivered) << ::rd_kafka_err2name(error);
    }
    EXPECT_EQ(probe_.log().count_starting("WARN"), 0);
}

TEST_F(KafkaOutcome, IsNotPersistedAndForGoodWhenTheMessageIsWrong) {
    for (const auto error : {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_INVALID_RECORD,
                             RD_KAFKA_RESP_ERR_POLICY_VIOLATION, RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP}) {
        const auto report = after({error});
        EXPECT_EQ(report.outcome, Outcome::NotPersisted) << ::rd_kafka_err2name(error);
        EXPECT_FALSE(report.retry_may_help) << ::rd_kafka_err2name(error);
        EXPECT_THAT(report.reason, HasSubstr(::rd_kafka_err2str(error)));
    }
}

TEST_F(KafkaOutcome, IsNotPersistedForNowWhenTheTopicIsForbidden) {
    const auto report = after({RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED});

    EXPECT_EQ(report.outcome, Outcome::NotPersisted);
    EXPECT_TRUE(report.retry_may_help);
}

TEST_F(KafkaOutcome, IsUnknownWhenTheBrokerItselfDoesNotKnow) {
    const auto report = after({RD_KAFKA_RESP_ERR_UNKNOWN});

    EXPECT_EQ(report.outcome, Outcome::Unknown);
    EXPECT_TRUE(report.retry_may_help);
}

TEST_F(KafkaOutcome, IsNotPersistedWhenItWasRefusedUntilTheEnd) {
    const auto report = after(std::vector(1'000, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS));

    EXPECT_EQ(report.outcome, Outcome::NotPersisted);
    EXPECT_TRUE(report.retry_may_help);
    EXPECT_EQ(report.reason, "Kafka did not acknowledge it in time");
}

TEST_F(KafkaOutcome, IsUnknownWhenOneOfItsTriesMayHaveArrived) {
    std::vector answers(1'000, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS);
    answers.front() = RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT;

    EXPECT_EQ(after(answers).outcome, Outcome::Unknown);
}

TEST_F(KafkaOutcome, IsUnknownWhenNoAnswerComesInTime) {
    ASSERT_EQ(after({}).outcome, Outcome::Delivered);
    mock_.set_delay(60'000);
    const auto start = std::chrono::steady_clock::now();

    const auto report = probe_.outcome_of({.topic = "t", .value = "v"});

    EXPECT_EQ(report.outcome, Outcome::Unknown);
    EXPECT_LT(std::chrono::steady_clock::now() - start, impatient("").publish_timeout + kReportSlack);
    mock_.set_delay(0);
}

// librdkafka 2.0 frees headers twice then, if it made them by itself. It refuses a message at once only while
// others to its topic wait, and it has looked for the topic long enough.
TEST_F(KafkaOutcome, IsNotPersistedWithHeadersWhenTheTopicIsKnownToBeMissing) {
    mock_.set_topic_error("missing", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    const auto end = std::chrono::steady_clock::now() + impatient("").publish_timeout;
    int last = 0;
    while (std::chrono::steady_clock::now() < end) {
        last = probe_.publish({.topic = "missing", .value = "v", .headers = {{"a", "b"}}});
        std::this_thread::sleep_for(milliseconds{10});  // Between two messages.
    }

    for (int number = 0; number <= last; ++number) {
        EXPECT_EQ(probe_.report_of(number).outcome, Outcome::NotPersisted);
    }
}

TEST_F(KafkaOutcome, IsNotPersistedWhileNobodyKnowsTheTopicAndDeliveredWhenItIsThere) {
    mock_.set_topic_error("later", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);

    const auto report = probe_.outcome_of({.topic = "later", .value = "v"});

    EXPECT_EQ(report.outcome, Outcome::NotPersisted);
    EXPECT_TRUE(report.retry_may_help);
    EXPECT_EQ(report.reason, "Kafka does not know the topic");

    mock_.set_topic_error("later", RD_KAFKA_RESP_ERR_NO_ERROR);
    const auto deadline = std::chrono::steady_clock::now() + KafkaProbe::kPatience;
    while (probe_.outcome_of({.topic = "later", .value = "v"}).outcome != Outcome::Delivered) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    }
}

}  // namespace
}  // namespace sluice::kafka
