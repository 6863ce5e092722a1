// Messages on a real broker, as a consumer reads them.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <unistd.h>

#include "carry/kafka/kafka_carrier.hpp"
#include "stream/kafka/cluster.hpp"
#include "support/kafka_fixture.hpp"
#include "support/kafka_probe.hpp"

namespace sluice::test {
namespace {

using kafka::Outcome;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

kafka::ProducerOptions options() {
    return {.access = {.brokers = kafka_address()}, .publish_timeout = milliseconds{20'000}};
}

class RealKafka : public testing::Test {
protected:
    void SetUp() override { SLUICE_NEEDS_KAFKA(); }
};

TEST_F(RealKafka, KeepsKeyHeadersAndBytesAsTheyCame) {
    const auto topic = fresh_topic("bytes");
    std::string every;
    for (int byte = 0; byte < 256; ++byte) {
        every += static_cast<char>(byte);
    }
    KafkaProbe probe{options()};

    const auto report = probe.outcome_of({.topic = topic,
                                          .key = std::string{"k\0y", 3},
                                          .value = every,
                                          .headers = {{"b", "2"}, {"a", every}, {"b", ""}}});

    ASSERT_EQ(report.outcome, Outcome::Delivered) << report.reason;
    const auto messages = read_topic(topic);
    ASSERT_EQ(messages.size(), 1);
    EXPECT_EQ(messages[0].key, (std::string{"k\0y", 3}));
    EXPECT_EQ(messages[0].value, every);
    EXPECT_THAT(messages[0].headers, ElementsAre(Pair("b", "2"), Pair("a", every), Pair("b", "")));
}

TEST_F(RealKafka, TellsAnEmptyValueFromNone) {
    const auto topic = fresh_topic("empty");
    KafkaProbe probe{options()};

    ASSERT_EQ(probe.outcome_of({.topic = topic}).outcome, Outcome::Delivered);

    const auto messages = read_topic(topic);
    ASSERT_EQ(messages.size(), 1);
    EXPECT_EQ(messages[0].key, std::nullopt);
    EXPECT_EQ(messages[0].value, "");
}

TEST_F(RealKafka, HasEachMessageOnceAndThoseOfAKeyInOrder) {
    constexpr int kKeys = 10;
    constexpr int kEach = 100;
    const auto topic = fresh_topic("order");
    KafkaProbe probe{options()};
    for (int message = 0; message < kKeys * kEach; ++message) {
        probe.publish(
            {.topic = topic, .key = std::to_string(message % kKeys), .value = std::to_string(message)});
    }
    probe.producer().stop();

    std::map<std::string, std::vector<int>> by_key;
    std::map<std::string, std::set<int>> partitions;
    for (const auto& message : read_topic(topic)) {
        by_key[*message.key].push_back(std::stoi(*message.value));
        partitions[*message.key].insert(message.partition);
    }
    EXPECT_EQ(by_key.size(), kKeys);
    for (const auto& [key, values] : by_key) {
        EXPECT_EQ(values.size(), kEach);
        EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
        EXPECT_EQ(partitions[key].size(), 1);
    }
}

TEST_F(RealKafka, MakesTopicsForThoseWhoAskAndLeavesThemAsTheyAre) {
    const auto topic = fresh_topic("made");
    const kafka::Access access{kafka_address()};

    const auto made = kafka::ensure_topic(access, {topic, 3, 1}, milliseconds{20'000});
    const auto again = kafka::ensure_topic(access, {topic, 5, 1}, milliseconds{20'000});

    EXPECT_TRUE(made) << made.error();
    EXPECT_TRUE(again) << again.error();
    EXPECT_EQ(partitions_of(topic), 3);
}

TEST_F(RealKafka, SaysWhyATopicCannotBeMade) {
    const kafka::Access access{kafka_address()};

    const auto made = kafka::ensure_topic(access, {fresh_topic("replicas"), 1, 7}, milliseconds{20'000});

    ASSERT_FALSE(made);
    EXPECT_THAT(made.error(), HasSubstr("eplication factor"));
    EXPECT_EQ(kafka::ensure_topic(access, {"a b", 1, 1}, milliseconds{20'000}).error(),
              "The name of a topic consists of letters, digits, '.', '_' and '-'.");
}

TEST_F(RealKafka, RefusesForGoodWhatIsTooLargeForTheBroker) {
    auto larger = options();
    larger.access.properties["message.max.bytes"] = "8000000";
    KafkaProbe probe{larger};

    const auto report =
        probe.outcome_of({.topic = fresh_topic("large"), .value = std::string(4'000'000, 'x')});

    EXPECT_EQ(report.outcome, Outcome::NotPersisted);
    EXPECT_FALSE(report.retry_may_help);
}

TEST_F(RealKafka, GetsWorkFromItsCarrier) {
    const auto topic = fresh_topic("work");
    KafkaProbe probe{options()};
    const auto carrier = make_kafka_carrier({}, probe.producer());
    std::optional<Delivery> delivery;

    carrier->send(
        {*EventId::make("order 7/ä"),
         {.target = {TargetKind::Kafka, topic}, .payload = R"({"amount": 1.0})", .traceparent = "00-a-b-01"}},
        [] { return true; }, [&](Delivery told) { delivery = std::move(told); });
    carrier->stop();

    ASSERT_TRUE(delivery);
    EXPECT_EQ(delivery->kind, Delivery::Kind::Done) << delivery->error;
    const auto messages = read_topic(topic);
    ASSERT_EQ(messages.size(), 1);
    EXPECT_EQ(messages[0].key, "order 7/ä");
    EXPECT_EQ(messages[0].value, R"({"amount": 1.0})");
    EXPECT_THAT(messages[0].headers,
                ElementsAre(Pair("idempotency-key", "order 7/ä"), Pair("traceparent", "00-a-b-01")));
}

// User and system time of this process.
milliseconds cpu_time() {
    return std::chrono::duration_cast<milliseconds>(
        std::chrono::duration<double>(static_cast<double>(std::clock()) / CLOCKS_PER_SEC));
}

TEST_F(RealKafka, CostsNextToNothingWhenNobodyPublishes) {
    constexpr milliseconds kMeasured{6'000};
    KafkaProbe probe{options()};
    ASSERT_EQ(probe.outcome_of({.topic = fresh_topic("idle"), .value = "v"}).outcome, Outcome::Delivered);

    const auto before = cpu_time();
    std::this_thread::sleep_for(kMeasured);  // That is what is measured.
    const auto used = cpu_time() - before;

    RecordProperty("cpu_ms", std::to_string(used.count()));
    EXPECT_LT(used * 200, kMeasured) << used.count() << " ms";
}

}  // namespace
}  // namespace sluice::test
