// What is said of a message, on librdkafka's mock.
#include "carry/gateway/kafka_publisher.hpp"

#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/mock_kafka.hpp"
#include "support/recording_log.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr const char* kTopic = "sms-outbound";

class KafkaPublisherTest : public testing::Test {
protected:
    void start(const std::string& brokers) {
        keeper_ =
            std::make_unique<kafka::TopicKeeper>(kafka::Access{brokers}, kafka::TopicTerms{kTopic, 4, 1},
                                                 kafka::TopicKeeper::World{log_, *runtime_});
        auto made = make_kafka_publisher({.access = {brokers}, .topic = kTopic, .publish_timeout = 1500ms},
                                         *keeper_, {clock_, log_});
        ASSERT_TRUE(made) << made.error();
        publisher_ = std::move(*made);
    }
    void start_well() {
        mock_.create_topic(kTopic, 4);
        start(mock_.brokers());
        const auto deadline = steady_clock::now() + 20s;
        while (!publisher_->available()) {
            ASSERT_LT(steady_clock::now(), deadline);
            std::this_thread::sleep_for(1ms);  // Between two looks.
        }
    }

    std::future<Published> publish(std::string text = "x") {
        auto promise = std::make_shared<std::promise<Published>>();
        publisher_->publish({.id = *MessageId::make("id"), .user = {1}, .text = std::move(text)},
                            [promise](Published outcome) { promise->set_value(outcome); });
        return promise->get_future();
    }
    static bool is_known(const std::future<Published>& outcome) {
        return outcome.wait_for(0s) == std::future_status::ready;
    }

    const std::unique_ptr<Runtime> runtime_ = make_machine_runtime();
    const SystemClock clock_{};
    RecordingLog log_;
    MockKafka mock_;
    std::unique_ptr<kafka::TopicKeeper> keeper_;
    std::unique_ptr<KafkaPublisher> publisher_;
};

TEST_F(KafkaPublisherTest, AcknowledgesWhatABrokerHasTaken) {
    start_well();

    EXPECT_EQ(publish().get(), Published::Acknowledged);
}

TEST_F(KafkaPublisherTest, PublishesNothingWhileTheTopicIsNotThere) {
    start("127.0.0.1:1");  // Nobody listens there.

    auto outcome = publish();

    EXPECT_TRUE(is_known(outcome));
    EXPECT_EQ(outcome.get(), Published::NotPublished);
    EXPECT_FALSE(publisher_->available());
}

TEST_F(KafkaPublisherTest, AnswersAtOnceWhileNoBrokerCanBeReachedAndGoesOnAfterwards) {
    start_well();
    mock_.set_down();
    const auto deadline = steady_clock::now() + 20s;
    while (publisher_->available() && steady_clock::now() < deadline) {
        std::this_thread::sleep_for(1ms);  // Between two looks.
    }

    auto refused = publish();

    EXPECT_TRUE(is_known(refused));
    EXPECT_EQ(refused.get(), Published::NotPublished);

    mock_.set_up();
    while (!publisher_->available() && steady_clock::now() < deadline) {
        std::this_thread::sleep_for(1ms);  // Between two looks.
    }
    EXPECT_EQ(publish().get(), Published::Acknowledged);
    EXPECT_EQ(
        log_.count_starting("WARN Kafka - Kafka at " + mock_.brokers() + ", for the gateway, is down: "), 1);
}

TEST_F(KafkaPublisherTest, DoesNotGuessWhenABrokerSaysNothingClear) {
    start_well();
    mock_.answer(MockKafka::kProduce, {RD_KAFKA_RESP_ERR_UNKNOWN});

    EXPECT_EQ(publish().get(), Published::Unknown);
}

TEST_F(KafkaPublisherTest, KnowsWhatABrokerHasRefusedAndSaysWhyOnce) {
    start_well();
    for (int each = 0; each < 3; ++each) {
        mock_.answer(MockKafka::kProduce, {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED});
        EXPECT_EQ(publish().get(), Published::NotPublished);
    }

    EXPECT_EQ(log_.count_starting("WARN Gateway - a message was not published to sms-outbound: "), 1);
}

TEST_F(KafkaPublisherTest, HasAnsweredAllWhenItStopsAndTakesNoMore) {
    start_well();
    auto before = publish();

    publisher_->stop();

    EXPECT_TRUE(is_known(before));
    auto after = publish();
    EXPECT_TRUE(is_known(after));
    EXPECT_EQ(after.get(), Published::NotPublished);
}

}  // namespace
}  // namespace sluice::test
