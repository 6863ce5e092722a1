// Messages of the gateway on a real broker: published, read, sent.
#include <ctime>
#include <set>

#include <gmock/gmock.h>

#include "support/consumer_probe.hpp"
#include "support/gateway_topic.hpp"
#include "support/kafka_fixture.hpp"
#include "support/kafka_probe.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Pair;
using testing::SizeIs;

class GatewayOnKafka : public testing::Test {
protected:
    void SetUp() override { SLUICE_NEEDS_KAFKA(); }

    std::unique_ptr<PublisherProbe> publisher() {
        auto probe = std::make_unique<PublisherProbe>(kafka_address(), topic_, Duration{5'000});
        EXPECT_TRUE(comes_true([&] { return probe->publisher().available(); }));
        return probe;
    }
    [[nodiscard]] kafka::ConsumerOptions reading() const {
        return {.access = {kafka_address()}, .topic = topic_, .group = "g-" + topic_};
    }
    void put(int first, int count) {
        const auto probe = publisher();
        for (int number = first; number < first + count; ++number) {
            probe->publish(numbered_message(number));
        }
        probe->publisher().stop();
        ASSERT_THAT(probe->outcomes(), SizeIs(count));
        ASSERT_THAT(probe->outcomes(), testing::Each(Pair(testing::_, Published::Acknowledged)));
    }

    const std::string topic_ = fresh_topic("gateway");
};

TEST_F(GatewayOnKafka, MakesItsTopicWithFourPartitions) {
    const auto probe = publisher();

    EXPECT_EQ(partitions_of(topic_), 4);
}

TEST_F(GatewayOnKafka, PutsEachAcknowledgedMessageOnTheTopicOnceWithItsHeadersAndNoKey) {
    const auto probe = publisher();
    auto message = numbered_message(1);
    message.text = "Hello World";
    message.request = RequestId::make("r-1");
    message.window_start = kEpoch + 1s;

    EXPECT_EQ(probe->outcome_of(message), Published::Acknowledged);

    const auto all = read_topic(topic_);
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all[0].key, std::nullopt);
    EXPECT_EQ(all[0].value, "7: Hello World");
    EXPECT_THAT(all[0].headers, ElementsAre(Pair("message-id", "id-1"), Pair("request-id", "r-1"),
                                            Pair("window-start", "1970-01-01T00:00:01.000Z")));
}

TEST_F(GatewayOnKafka, SendsWhatCameBeforeTheSenderAndSkipsWhatIsNoMessage) {
    put(0, 20);
    KafkaProbe junk{{.access = {kafka_address()}}};
    ASSERT_EQ(junk.outcome_of({.topic = topic_, .value = "\xff\n"}).outcome, kafka::Outcome::Delivered);
    put(20, 20);

    SenderProbe sender{kafka_address(), topic_};

    EXPECT_TRUE(comes_true([&] { return sender.counts().sent == 40 && sender.counts().malformed == 1; }));
    EXPECT_THAT(sender.sent(), SizeIs(40));
    EXPECT_EQ(sender.log().count_starting("WARN Sender - Skipped a malformed message, partition "), 1);
}

TEST_F(GatewayOnKafka, GoesOnBehindWhatWasDoneWhenAMemberLeaves) {
    put(0, 30);
    std::set<std::string> done;
    {
        ConsumerProbe first{reading()};
        ASSERT_TRUE(first.serve_until_there_are(30));
        // Of each partition the first half, so that something is left in all.
        std::map<int, std::vector<kafka::Record>> by_partition;
        for (const kafka::Record& record : first.records) {
            by_partition[record.partition].push_back(record);
        }
        for (auto& [partition, records] : by_partition) {
            records.resize((records.size() + 1) / 2);
            first.consumer().done(records);
            for (const kafka::Record& record : records) {
                done.insert(*record.value);
            }
        }
    }

    ConsumerProbe second{reading()};
    ASSERT_TRUE(second.serve_until_there_are(30 - done.size()));
    static_cast<void>(second.serve_until([] { return false; }, 1s));

    EXPECT_THAT(second.records, SizeIs(30 - done.size()));
    for (const kafka::Record& record : second.records) {
        EXPECT_FALSE(done.contains(*record.value)) << *record.value;
    }
}

TEST_F(GatewayOnKafka, KeepsTheOrderWithinAPartition) {
    put(0, 200);

    ConsumerProbe probe{reading()};
    ASSERT_TRUE(probe.serve_until_there_are(200));

    std::map<int, std::int64_t> last;
    for (const kafka::Record& record : probe.records) {
        const auto [place, fresh] = last.emplace(record.partition, record.offset);
        EXPECT_TRUE(fresh || place->second + 1 == record.offset);
        place->second = record.offset;
    }
}

TEST_F(GatewayOnKafka, SharesTheTopicAmongTheMembersOfItsGroup) {
    put(0, 1);
    SenderProbe one{kafka_address(), topic_};
    ASSERT_TRUE(comes_true([&] { return one.counts().sent == 1; }));
    SenderProbe other{kafka_address(), topic_};
    ASSERT_TRUE(comes_true([&] {
        return other.log().count_starting("INFO Kafka - group g-" + topic_ + ": this member reads") == 1;
    }));

    // What is published together may go to one partition.
    const auto probe = publisher();
    for (int number = 1; number <= 200; ++number) {
        probe->publish(numbered_message(number));
        if (number % 10 == 0) {
            ASSERT_TRUE(
                comes_true([&] { return probe->outcomes().size() == static_cast<std::size_t>(number); }));
        }
    }

    EXPECT_TRUE(comes_true([&] { return one.counts().sent + other.counts().sent >= 201; }));
    EXPECT_GT(one.counts().sent, 1);
    EXPECT_GT(other.counts().sent, 0);
    auto all = one.sent();
    for (const auto& [text, count] : other.sent()) {
        all[text] += count;
    }
    EXPECT_THAT(all, SizeIs(201));
    EXPECT_THAT(all, testing::Each(Pair(testing::_, 1)));
}

TEST_F(GatewayOnKafka, CostsNextToNothingWhileNothingComes) {
    constexpr std::chrono::milliseconds kMeasured{6'000};
    put(0, 1);
    SenderProbe sender{kafka_address(), topic_};
    ASSERT_TRUE(comes_true([&] { return sender.counts().sent == 1; }));

    const auto before = std::clock();
    std::this_thread::sleep_for(kMeasured);  // That is what is measured.
    const std::chrono::duration<double> used{static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC};

    RecordProperty("cpu_ms", std::to_string(used / 1ms));
    EXPECT_LT(used * 100, kMeasured) << used / 1ms << " ms";
}

}  // namespace
}  // namespace sluice::test
