// The gateway's way over a broker that freezes, dies and comes back.
#include <csignal>

#include <gmock/gmock.h>

#include "support/cli_process.hpp"
#include "support/gateway_topic.hpp"
#include "support/kafka_fixture.hpp"
#include "support/kafka_probe.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class GatewayKafkaFault : public testing::Test {
protected:
    void SetUp() override {
        SLUICE_NEEDS_KAFKA();
        // The longest that the settings allow: a send has no such time.
        publisher_ = std::make_unique<PublisherProbe>(kafka_address(), topic_, Duration{300'000});
        sender_ = std::make_unique<SenderProbe>(kafka_address(), topic_);
        ASSERT_TRUE(comes_true([&] { return publisher_->publisher().available(); }));
        ASSERT_TRUE(acknowledged_at_last(-1));
        ASSERT_TRUE(comes_true([&] { return sender_->counts().sent >= 1; }));
    }

    bool acknowledged_at_last(int number) {
        return comes_true(
            [&] { return publisher_->outcome_of(numbered_message(number)) == Published::Acknowledged; });
    }

    // What was said is true, and what is on the topic is sent.
    void expect_truth() {
        std::map<std::string, int> on_topic;
        for (const auto& message : read_topic(topic_)) {
            ++on_topic[message.value.value_or("").substr(3)];
        }
        for (const auto& [text, outcome] : publisher_->outcomes()) {
            const int count = on_topic.contains(text) ? on_topic.at(text) : 0;
            switch (outcome) {
                case Published::Acknowledged: EXPECT_EQ(count, 1) << text; break;
                case Published::NotPublished: EXPECT_EQ(count, 0) << text; break;
                case Published::Unknown: EXPECT_LE(count, 1) << text; break;
            }
        }
        EXPECT_TRUE(comes_true([&] { return sender_->sent().size() == on_topic.size(); }));
        for (const auto& [text, count] : sender_->sent()) {
            EXPECT_EQ(count, 1) << text;
        }
    }

    const std::string topic_ = fresh_topic("gateway-fault");
    KafkaServer server_;
    std::unique_ptr<PublisherProbe> publisher_;
    std::unique_ptr<SenderProbe> sender_;
};

TEST_F(GatewayKafkaFault, AnswersInTimeAndTruthfullyWhenTheBrokerFreezes) {
    server_.freeze();
    for (int number = 0; number < 50; ++number) {
        publisher_->publish(numbered_message(number));
    }
    ASSERT_TRUE(comes_true([&] { return publisher_->outcomes().size() == 51; }));
    EXPECT_LT(publisher_->slowest(), 8s);
    ASSERT_TRUE(comes_true([&] { return !publisher_->publisher().available(); }));

    // From here on it is known to be away.
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(publisher_->outcome_of(numbered_message(100)), Published::NotPublished);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 1s);

    server_.thaw();
    EXPECT_TRUE(acknowledged_at_last(101));
    expect_truth();
    EXPECT_EQ(publisher_->log().count_starting("WARN Kafka - Kafka at " + kafka_address() +
                                               ", for the gateway, is down: "),
              1);
}

TEST_F(GatewayKafkaFault, LosesNothingThatWasAcknowledgedWhenTheBrokerIsKilledUnderLoad) {
    for (int number = 0; number < 2'000; ++number) {
        publisher_->publish(numbered_message(number));
        if (number == 1'000) {
            server_.kill();
        }
    }
    ASSERT_TRUE(comes_true([&] { return publisher_->outcomes().size() == 2'001; }));
    EXPECT_LT(publisher_->slowest(), 8s);
    EXPECT_FALSE(publisher_->publisher().available());

    server_.revive();

    EXPECT_TRUE(acknowledged_at_last(2'001));
    expect_truth();
    EXPECT_EQ(sender_->log().count_starting("WARN Kafka - Kafka at " + kafka_address() +
                                            ", for the sender, is down: "),
              1);
}

// The whole command, on the topic that it has.
class SenderCommand : public testing::Test {
protected:
    void SetUp() override { SLUICE_NEEDS_KAFKA(); }
    static std::string put(int count) {
        const std::string run = fresh_topic("run");
        PublisherProbe probe{kafka_address(), "sms-outbound", Duration{5'000}};
        EXPECT_TRUE(comes_true([&] { return probe.publisher().available(); }));
        for (int number = 0; number < count; ++number) {
            auto message = numbered_message(number);
            message.text = run + " " + std::to_string(number) + ".";
            message.id = *MessageId::make(run.substr(0, 50) + std::to_string(number));
            probe.publish(std::move(message));
        }
        probe.publisher().stop();
        return run;
    }
};

TEST_F(SenderCommand, SendsWhatIsThereAndEndsWellWhenItIsTold) {
    const auto run = put(20);
    CliProcess sender{{"sender", "--kafka", kafka_address()}};
    ASSERT_TRUE(
        sender.wait_for_error_text("Sluice sender is ready: it sends what is on sms-outbound of Kafka"));
    for (int number = 0; number < 20; ++number) {
        EXPECT_TRUE(sender.wait_for_error_text("SMS Sent: 7: " + run + " " + std::to_string(number) + "."));
    }

    sender.signal(SIGTERM);

    EXPECT_EQ(sender.wait().code, 0);
    EXPECT_THAT(sender.errors(), HasSubstr("Sluice - Stopped, messages sent: "));
    // Another goes on behind it: nothing is sent twice.
    const auto next = put(1);
    CliProcess other{{"sender", "--kafka", kafka_address()}};
    ASSERT_TRUE(other.wait_for_error_text("SMS Sent: 7: " + next + " 0."));
    EXPECT_THAT(other.errors(), testing::Not(HasSubstr(run)));
}

TEST_F(SenderCommand, LeavesNothingUnsentWhenItIsKilled) {
    std::string seen;
    std::string run;
    {
        CliProcess first{{"sender", "--kafka", kafka_address()}};
        ASSERT_TRUE(first.wait_for_error_text("this member reads"));
        run = put(500);
        ASSERT_TRUE(first.wait_for_error_text("SMS Sent: 7: " + run));
        first.signal(SIGKILL);
        first.wait();
        seen = first.errors();
    }

    CliProcess second{{"sender", "--kafka", kafka_address()}};

    for (int number = 0; number < 500; ++number) {
        const std::string line = "SMS Sent: 7: " + run + " " + std::to_string(number) + ".";
        EXPECT_TRUE(seen.find(line) != std::string::npos || second.wait_for_error_text(line)) << line;
    }
}

TEST_F(SenderCommand, StartsWithoutKafkaAndSaysSo) {
    CliProcess sender{{"sender", "--kafka", "127.0.0.1:1"}};
    ASSERT_TRUE(sender.wait_for_error_text("Sluice sender is ready"));
    EXPECT_TRUE(sender.wait_for_error_text("Kafka at 127.0.0.1:1, for the sender, is down: "));

    sender.signal(SIGTERM);

    EXPECT_EQ(sender.wait().code, 0);
}

TEST_F(SenderCommand, NeedsToKnowWhereKafkaIs) {
    const auto result = run_cli({"sender"});

    EXPECT_EQ(result.ending.code, 2);
    EXPECT_EQ(result.errors, "sluice: A sender needs a Kafka to read from; give --kafka host:port.\n");
}

}  // namespace
}  // namespace sluice::test
