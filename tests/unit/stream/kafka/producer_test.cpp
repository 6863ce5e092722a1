// How the producer lives: its properties, its queue, its replacement, its end. On librdkafka's mock.
#include "stream/kafka/producer.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stream/kafka/cluster.hpp"
#include "support/kafka_probe.hpp"
#include "support/mock_kafka.hpp"

namespace sluice::kafka {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using test::impatient;
using test::KafkaProbe;
using test::MockKafka;
using testing::AllOf;
using testing::HasSubstr;

// Nobody listens there.
constexpr const char* kNobody = "127.0.0.1:1";

std::string refusal(std::map<std::string, std::string> properties) {
    const SystemClock clock;
    test::RecordingLog log;
    const auto made = make_producer({.access = {kNobody, std::move(properties)}}, {clock, log});
    return made ? "" : made.error();
}

// Looks until it is so.
template <class Reached>
::testing::AssertionResult at_last(Reached reached) {
    const auto deadline = steady_clock::now() + KafkaProbe::kPatience;
    while (!reached()) {
        if (steady_clock::now() > deadline) {
            return ::testing::AssertionFailure() << "it does not come";
        }
        std::this_thread::sleep_for(milliseconds{1});  // Between two looks.
    }
    return ::testing::AssertionSuccess();
}

TEST(KafkaProducer, RefusesPropertiesThatLibrdkafkaDoesNotKnow) {
    EXPECT_EQ(refusal({{"secutiry.protocol", "ssl"}}),
              "Kafka property secutiry.protocol: No such configuration property: \"secutiry.protocol\".");
    EXPECT_THAT(refusal({{"security.protocol", "tsl"}}),
                AllOf(HasSubstr("Kafka property security.protocol: "), HasSubstr("tsl")));
    EXPECT_THAT(refusal({{"security.protocol", "ssl"}, {"ssl.ca.location", "/none"}}),
                HasSubstr("ssl.ca.location"));
}

TEST(KafkaProducer, RefusesPropertiesOnWhichItsPromisesRest) {
    for (const char* const name : {"acks", "request.required.acks", "enable.idempotence", "bootstrap.servers",
                                   "metadata.broker.list", "message.timeout.ms", "delivery.timeout.ms"}) {
        EXPECT_EQ(refusal({{name, "1"}}),
                  std::string{"Kafka property "} + name + " cannot be set: Sluice sets it by itself.");
    }
}

TEST(KafkaProducer, TakesPropertiesOfTlsAndSasl) {
    EXPECT_EQ(refusal({{"security.protocol", "sasl_ssl"},
                       {"sasl.mechanism", "SCRAM-SHA-512"},
                       {"sasl.username", "sluice"},
                       {"sasl.password", "secret"}}),
              "");
}

TEST(KafkaProducer, ReportsNotPersistedInTimeWhenNobodyListens) {
    KafkaProbe probe{impatient(kNobody)};
    const auto start = steady_clock::now();

    const auto report = probe.outcome_of({.topic = "t", .value = "v"});

    EXPECT_EQ(report.outcome, Outcome::NotPersisted);
    EXPECT_TRUE(report.retry_may_help);
    EXPECT_LT(steady_clock::now() - start, impatient("").publish_timeout + kReportSlack);
    EXPECT_FALSE(probe.producer().state().up);
    EXPECT_THAT(probe.producer().state().reason, HasSubstr("Connection refused"));
    EXPECT_EQ(probe.log().count_starting("WARN Kafka - Kafka at 127.0.0.1:1 is down: "), 1);
}

TEST(KafkaProducer, RefusesAtOnceWhatItsQueueDoesNotHold) {
    auto options = impatient(kNobody);
    options.messages_max = 3;
    KafkaProbe probe{options};
    for (int each = 0; each < 3; ++each) {
        probe.publish({.topic = "t", .value = "v"});
    }
    ASSERT_EQ(probe.reported(), 0);

    const auto report = probe.report_of(probe.publish({.topic = "t", .value = "v"}));

    EXPECT_EQ(probe.reported(), 1);
    EXPECT_EQ(report.outcome, Outcome::NotPersisted);
    EXPECT_TRUE(report.retry_may_help);
    EXPECT_EQ(report.reason, "too many messages wait for Kafka");
}

TEST(KafkaProducer, RefusesForGoodWhatIsTooLargeForAnyBroker) {
    KafkaProbe probe{impatient(kNobody)};

    const auto report = probe.outcome_of({.topic = "t", .value = std::string(2'000'000, 'x')});

    EXPECT_EQ(report.outcome, Outcome::NotPersisted);
    EXPECT_FALSE(report.retry_may_help);
}

TEST(KafkaProducer, IsReplacedWhenItHasFailedForGood) {
    MockKafka mock;
    mock.answer(MockKafka::kInitProducerId, {RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED});
    KafkaProbe probe{impatient(mock.brokers())};

    const auto first = probe.outcome_of({.topic = "t", .value = "v"});
    EXPECT_EQ(first.outcome, Outcome::NotPersisted);
    EXPECT_TRUE(first.retry_may_help);

    EXPECT_TRUE(at_last(
        [&] { return probe.outcome_of({.topic = "t", .value = "v"}).outcome == Outcome::Delivered; }));
    EXPECT_EQ(probe.log().count_starting("WARN Kafka - the producer is replaced: "), 1);
    EXPECT_EQ(probe.log().count_starting("WARN Kafka - Kafka at " + mock.brokers() +
                                         " is down: the producer failed: "),
              1);
    EXPECT_TRUE(probe.producer().state().up);
}

TEST(KafkaProducer, IsReplacedAfterAnUnknownOutcomeAndGoesOn) {
    MockKafka mock;
    KafkaProbe probe{impatient(mock.brokers())};
    mock.answer(MockKafka::kProduce, {RD_KAFKA_RESP_ERR_UNKNOWN});

    EXPECT_EQ(probe.outcome_of({.topic = "t", .value = "v"}).outcome, Outcome::Unknown);
    EXPECT_TRUE(at_last([&] {
        return probe.log().count_starting("WARN Kafka - the producer is replaced: the outcome of a") == 1;
    }));

    EXPECT_EQ(probe.outcome_of({.topic = "t", .value = "v"}).outcome, Outcome::Delivered);
    EXPECT_TRUE(probe.producer().state().up);
}

TEST(KafkaProducer, SeesBrokersGoAndComeBackWithoutAnyMessage) {
    MockKafka mock;
    KafkaProbe probe{impatient(mock.brokers())};
    EXPECT_TRUE(at_last([&] { return probe.producer().state().up; }));

    mock.set_down();
    EXPECT_TRUE(at_last([&] { return !probe.producer().state().up; }));
    EXPECT_TRUE(probe.producer().state().ever_up);

    mock.set_up();
    EXPECT_TRUE(at_last([&] { return probe.producer().state().up; }));
    EXPECT_EQ(probe.log().count_starting("WARN"), 1);
}

TEST(KafkaProducer, ReportsEveryMessageOnceWhenItStops) {
    MockKafka mock;
    KafkaProbe probe{impatient(mock.brokers())};
    constexpr int kMessages = 2'000;
    for (int each = 0; each < kMessages; ++each) {
        probe.publish({.topic = "t", .key = std::to_string(each), .value = "v"});
    }

    probe.producer().stop();

    EXPECT_EQ(probe.reported(), kMessages);
    EXPECT_EQ(probe.repeated(), 0);
    for (int each = 0; each < kMessages; ++each) {
        EXPECT_EQ(probe.report_of(each).outcome, Outcome::Delivered);
    }
    const auto late = probe.outcome_of({.topic = "t", .value = "v"});
    EXPECT_EQ(late.outcome, Outcome::NotPersisted);
    EXPECT_EQ(late.reason, "the Kafka producer is stopping");
}

TEST(KafkaProducer, StopsInTimeWhenNoAnswerComes) {
    MockKafka mock;
    KafkaProbe probe{impatient(mock.brokers())};
    ASSERT_EQ(probe.outcome_of({.topic = "t", .value = "v"}).outcome, Outcome::Delivered);
    mock.set_delay(60'000);
    const int silent = probe.publish({.topic = "t", .value = "v"});
    const auto start = steady_clock::now();

    probe.producer().stop();

    EXPECT_LT(steady_clock::now() - start,
              impatient("").publish_timeout + kReportSlack + milliseconds{1'000});
    EXPECT_EQ(probe.report_of(silent).outcome, Outcome::Unknown);
}

TEST(KafkaProducer, TakesMessagesFromManyThreads) {
    MockKafka mock;
    KafkaProbe probe{impatient(mock.brokers())};
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread) {
            threads.emplace_back([&probe] {
                for (int each = 0; each < 500; ++each) {
                    probe.publish({.topic = "t", .value = "v"});
                }
            });
        }
    }

    probe.producer().stop();

    EXPECT_EQ(probe.reported(), 2'000);
    EXPECT_EQ(probe.repeated(), 0);
}

TEST(KafkaCluster, IsExaminedOrSaysWhyNot) {
    MockKafka mock;

    const auto facts = examine_cluster({mock.brokers()}, milliseconds{10'000});
    const auto nobody = examine_cluster({kNobody}, milliseconds{500});

    ASSERT_TRUE(facts) << facts.error();
    EXPECT_EQ(facts->brokers, 1);
    ASSERT_FALSE(nobody);
    EXPECT_THAT(nobody.error(), HasSubstr("Kafka at 127.0.0.1:1 does not answer: "));
}

}  // namespace
}  // namespace sluice::kafka
