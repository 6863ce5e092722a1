// How the consumer lives: its properties, its listener, outages, its end. On librdkafka's mock.
#include "stream/kafka/consumer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/consumer_probe.hpp"
#include "support/kafka_probe.hpp"
#include "support/mock_kafka.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

std::string consumer_refusal(kafka::ConsumerOptions options) {
    const SystemClock clock;
    RecordingLog log;
    const auto made = kafka::make_consumer(std::move(options), {clock, log});
    return made ? "" : made.error();
}

kafka::ConsumerOptions reading(const MockKafka& mock) {
    return {.access = {mock.brokers()}, .topic = "t", .group = "g", .purpose = "test"};
}

class KafkaConsumerTest : public testing::Test {
protected:
    void SetUp() override { mock_.create_topic("t", 1); }
    void put(const std::string& value) {
        KafkaProbe probe{impatient(mock_.brokers())};
        ASSERT_EQ(probe.outcome_of({.topic = "t", .value = value}).outcome, kafka::Outcome::Delivered);
    }
    MockKafka mock_;
};

TEST_F(KafkaConsumerTest, RefusesPropertiesOnWhichItsPromisesRest) {
    for (const char* const name : {"group.id", "enable.auto.commit", "auto.offset.reset", "bootstrap.servers",
                                   "enable.auto.offset.store", "allow.auto.create.topics"}) {
        auto options = reading(mock_);
        options.access.properties[name] = "x";
        EXPECT_EQ(consumer_refusal(options),
                  std::string{"Kafka property "} + name + " cannot be set: Sluice sets it by itself.");
    }
    auto options = reading(mock_);
    options.topic = "a b";
    EXPECT_EQ(consumer_refusal(options),
              "The name of a topic consists of letters, digits, '.', '_' and '-'.");
}

TEST_F(KafkaConsumerTest, ReadsFromTheEarliestAndTakesNoMoreThanItIsAskedFor) {
    for (const char* const value : {"a", "b", "c"}) {
        put(value);
    }
    ConsumerProbe probe{reading(mock_)};
    std::vector<kafka::Record> one;
    ASSERT_TRUE(probe.serve_until([&] {
        if (one.empty()) {
            one = probe.consumer().take(1);
        }
        return !one.empty() || !probe.records.empty();
    }));
    ASSERT_LE(one.size(), 1);
    for (const kafka::Record& record : one) {
        probe.records.insert(probe.records.begin(), record);
    }

    ASSERT_TRUE(probe.serve_until_there_are(3));

    EXPECT_EQ(probe.records.front().value, "a");
    EXPECT_EQ(probe.records.front().offset, 0);
    EXPECT_EQ(probe.records.back().value, "c");
}

TEST_F(KafkaConsumerTest, TellsOnceThatTheBrokerIsAwayAndGoesOnWhenItIsBack) {
    put("a");
    ConsumerProbe probe{reading(mock_)};
    ASSERT_TRUE(probe.serve_until_there_are(1));

    mock_.set_down();
    ASSERT_TRUE(probe.serve_until([&] { return !probe.consumer().state().up; }));
    static_cast<void>(
        probe.serve_until([] { return false; }, 3s));  // What comes meanwhile is told to nobody.
    mock_.set_up();
    put("b");
    ASSERT_TRUE(probe.serve_until_there_are(2));

    EXPECT_TRUE(probe.consumer().state().up);
    const std::string name = "Kafka at " + mock_.brokers() + ", for the test,";
    EXPECT_EQ(probe.log().count_starting("WARN Kafka - " + name + " is down: "), 1);
    EXPECT_EQ(probe.log().count_starting("INFO Kafka - " + name + " answers"), 2);
    EXPECT_EQ(probe.log().count_starting("WARN"), 1);
}

TEST_F(KafkaConsumerTest, SaysOnceWhyItCannotRead) {
    mock_.set_topic_error("t", RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    auto options = reading(mock_);
    options.access.properties["topic.metadata.refresh.interval.ms"] = "500";
    ConsumerProbe probe{options};

    static_cast<void>(
        probe.serve_until([] { return false; }, 2s));  // Long enough for some looks at the topic.

    EXPECT_EQ(probe.log().count_starting("WARN Kafka - cannot read t: "), 1);
}

TEST_F(KafkaConsumerTest, StopsInTimeWhenNoBrokerAnswers) {
    put("a");
    ConsumerProbe probe{reading(mock_)};
    ASSERT_TRUE(probe.serve_until_there_are(1));
    probe.consumer().done(probe.records);
    mock_.set_down();
    const auto start = steady_clock::now();

    probe.consumer().stop();

    EXPECT_LT(steady_clock::now() - start, 2 * kafka::kSessionTimeout);
    EXPECT_TRUE(probe.consumer().take(1).empty());
}

TEST_F(KafkaConsumerTest, StopsAtOnceWhenItNeverReachedABroker) {
    ConsumerProbe probe{{.access = {"127.0.0.1:1"}, .topic = "t", .group = "g"}};
    const auto start = steady_clock::now();

    probe.consumer().stop();

    EXPECT_LT(steady_clock::now() - start, 6s);
}

}  // namespace
}  // namespace sluice::test
