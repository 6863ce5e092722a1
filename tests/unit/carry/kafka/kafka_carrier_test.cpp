#include "carry/kafka/kafka_carrier.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

using kafka::Outcome;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Keeps what is published until the test says what became of it.
class ScriptedProducer final : public kafka::Producer {
public:
    void publish(kafka::Message message, Done done) override {
        messages.push_back(std::move(message));
        dones.push_back(std::move(done));
    }
    [[nodiscard]] kafka::LinkState state() const override { return link; }
    void stop() override { stopped = true; }

    kafka::LinkState link{.up = true, .ever_up = true};
    std::vector<kafka::Message> messages;
    std::vector<Done> dones;
    bool stopped = false;
};

Parcel parcel(std::string payload = "{}") {
    return {*EventId::make("e-1"),
            {.target = {TargetKind::Kafka, "orders"},
             .route = {"", "kafka://orders"},
             .payload = std::move(payload),
             .traceparent = "00-1-2-01"}};
}

class KafkaCarrierTest : public testing::Test {
protected:
    void send(bool may_write = true) {
        carrier_->send(
            parcel(),
            [this, may_write] {
                ++asked_;
                EXPECT_THAT(producer_.messages, IsEmpty());
                return may_write;
            },
            [this](Delivery delivery) { deliveries_.push_back(std::move(delivery)); });
    }

    Delivery delivery_after(kafka::Report report) {
        send();
        producer_.dones.at(0)(std::move(report));
        return deliveries_.at(0);
    }

    ScriptedProducer producer_;
    std::unique_ptr<Carrier> carrier_ = make_kafka_carrier({.publish_timeout = Duration{5'000}}, producer_);
    int asked_ = 0;
    std::vector<Delivery> deliveries_;
};

TEST_F(KafkaCarrierTest, MakesEachTopicAnEndpointOfNobodysHost) {
    const auto route = carrier_->route({TargetKind::Kafka, "orders.v1"});

    ASSERT_TRUE(route);
    EXPECT_EQ(*route, (Route{"", "kafka://orders.v1"}));
    EXPECT_EQ(carrier_->terms({TargetKind::Kafka, "orders.v1"}).timeout, Duration{7'000});
}

TEST_F(KafkaCarrierTest, RefusesTargetsThatAreNoTopics) {
    for (const auto* const name : {"", ".", "..", "a b", "a/b"}) {
        const auto route = carrier_->route({TargetKind::Kafka, name});
        ASSERT_FALSE(route) << name;
        EXPECT_EQ(route.error().code, "invalid_target");
    }
}

TEST_F(KafkaCarrierTest, SendsThePayloadUnderTheEventsKey) {
    const std::string payload{"\0{\"a\": 1.0}\xff", 12};
    carrier_->send(
        parcel(payload), [] { return true; }, [](const Delivery&) {});

    ASSERT_EQ(producer_.messages.size(), 1);
    const auto& message = producer_.messages[0];
    EXPECT_EQ(message.topic, "orders");
    EXPECT_EQ(message.key, "e-1");
    EXPECT_EQ(message.value, payload);
    EXPECT_THAT(message.headers,
                ElementsAre(Pair("idempotency-key", "e-1"), Pair("traceparent", "00-1-2-01")));
    producer_.dones[0]({});
}

TEST_F(KafkaCarrierTest, AsksOnceImmediatelyBeforeItPublishes) {
    EXPECT_EQ(delivery_after({}).kind, Delivery::Kind::Done);
    EXPECT_EQ(asked_, 1);
}

TEST_F(KafkaCarrierTest, PublishesNothingWhenItMayNot) {
    send(false);

    EXPECT_THAT(producer_.messages, IsEmpty());
    ASSERT_EQ(deliveries_.size(), 1);
    EXPECT_EQ(deliveries_[0].kind, Delivery::Kind::NotSent);
}

TEST_F(KafkaCarrierTest, FailsWhatIsCertainlyNotThere) {
    const auto delivery = delivery_after({Outcome::NotPersisted, "too bad", true});

    EXPECT_EQ(delivery.kind, Delivery::Kind::Failed);
    EXPECT_EQ(delivery.error, "too bad");
}

TEST_F(KafkaCarrierTest, RefusesWhatKafkaWillNeverTake) {
    EXPECT_EQ(delivery_after({Outcome::NotPersisted, "too large", false}).kind, Delivery::Kind::Refused);
}

TEST_F(KafkaCarrierTest, FailsWhatMayBeThereAndSaysSo) {
    const auto delivery = delivery_after({Outcome::Unknown, "no answer", false});

    EXPECT_EQ(delivery.kind, Delivery::Kind::Failed);
    EXPECT_EQ(delivery.error, "no answer; it may be on the topic nevertheless");
}

TEST_F(KafkaCarrierTest, HandsNothingToAProducerWithoutBrokers) {
    producer_.link = {.up = false, .ever_up = true, .reason = "Kafka is down"};

    send();

    EXPECT_EQ(asked_, 0);
    EXPECT_THAT(producer_.messages, IsEmpty());
    ASSERT_EQ(deliveries_.size(), 1);
    EXPECT_EQ(deliveries_[0].kind, Delivery::Kind::Failed);
    EXPECT_EQ(deliveries_[0].error, "Kafka is down");
}

TEST_F(KafkaCarrierTest, TriesBeforeAnyBrokerHasAnswered) {
    producer_.link = {.up = false, .ever_up = false, .reason = "not yet"};

    EXPECT_EQ(delivery_after({}).kind, Delivery::Kind::Done);
}

TEST_F(KafkaCarrierTest, StopsWhenAllHasEndedAndLeavesTheProducerToOthers) {
    send();
    std::jthread later{[this] { producer_.dones.at(0)({}); }};

    carrier_->stop();

    EXPECT_EQ(deliveries_.size(), 1);
    EXPECT_FALSE(producer_.stopped);
    send();
    EXPECT_EQ(producer_.messages.size(), 1);
    ASSERT_EQ(deliveries_.size(), 2);
    EXPECT_EQ(deliveries_[1].kind, Delivery::Kind::NotSent);
}

}  // namespace
}  // namespace sluice
