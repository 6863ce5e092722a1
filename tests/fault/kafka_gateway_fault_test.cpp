// The gateway's way over a broker that freezes, dies and comes back.
#include <csignal>

#include <gmock/gmock.h>

#include "support/cli_process.hpp"
#include "support/gateway_topic.hpp"
#include "support/kafka_fixture.hpp"
#include "support/raw_http.hpp"

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
        ASSERT_TRUE(acknowledged_at_last());
        ASSERT_TRUE(comes_true([&] { return sender_->counts().sent >= 1; }));
    }

    bool acknowledged_at_last() {
        return comes_true(
            [&] { return publisher_->outcome_of(numbered_message(next_++)) == Published::Acknowledged; });
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
    int next_ = 10'000;  // Of messages that are published until one is acknowledged.
};

TEST_F(GatewayKafkaFault, AnswersInTimeAndTruthfullyWhenTheBrokerFreezes) {
    const std::size_t before = publisher_->outcomes().size();
    server_.freeze();
    for (int number = 0; number < 50; ++number) {
        publisher_->publish(numbered_message(number));
    }
    ASSERT_TRUE(comes_true([&] { return publisher_->outcomes().size() == before + 50; }));
    EXPECT_LT(publisher_->slowest(), 8s);
    ASSERT_TRUE(comes_true([&] { return !publisher_->publisher().available(); }));

    // From here on it is known to be away.
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(publisher_->outcome_of(numbered_message(100)), Published::NotPublished);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 1s);

    server_.thaw();
    EXPECT_TRUE(acknowledged_at_last());
    expect_truth();
    EXPECT_EQ(publisher_->log().count_starting("WARN Kafka - Kafka at " + kafka_address() +
                                               ", for the gateway, is down: "),
              1);
}

TEST_F(GatewayKafkaFault, LosesNothingThatWasAcknowledgedWhenTheBrokerIsKilledUnderLoad) {
    const std::size_t before = publisher_->outcomes().size();
    for (int number = 0; number < 2'000; ++number) {
        publisher_->publish(numbered_message(number));
        if (number == 1'000) {
            server_.kill();
        }
    }
    ASSERT_TRUE(comes_true([&] { return publisher_->outcomes().size() == before + 2'000; }));
    EXPECT_LT(publisher_->slowest(), 8s);
    EXPECT_FALSE(publisher_->publisher().available());

    server_.revive();

    EXPECT_TRUE(acknowledged_at_last());
    expect_truth();
    EXPECT_EQ(sender_->log().count_starting("WARN Kafka - Kafka at " + kafka_address() +
                                            ", for the sender, is down: "),
              1);
}

// The whole server.
class GatewayServer : public testing::Test {
protected:
    void SetUp() override { SLUICE_NEEDS_KAFKA(); }
    static std::string count_of_user(const CliServer& server) {
        const auto body = call(server.port(), "GET", "/api/config/101").body;
        const std::string name = R"("currentCount":)";
        const auto begin = body.find(name) + name.size();
        return body.substr(begin, body.find(',', begin) - begin);
    }
    static HttpAnswer send(const CliServer& server, const std::string& text) {
        return call(server.port(), "POST", "/api/send", R"({"userId":101,"message":")" + text + R"("})");
    }
    KafkaServer kafka_;
};

TEST_F(GatewayServer, SendsOverKafkaAndAnswersKafkaDownInTimeWhileItIsAway) {
    CliServer server{{"--store", "memory", "--kafka", kafka_address()}};
    ASSERT_EQ(
        call(server.port(), "POST", "/api/config", R"({"userId":101,"rateLimit":100,"timeWindow":5})").status,
        200);
    const std::string text = fresh_topic("Hello World");
    ASSERT_TRUE(comes_true([&] { return send(server, text).status == 200; }));
    EXPECT_TRUE(server.process().wait_for_error_text("SMS Sent: 101: " + text));

    kafka_.freeze();
    const auto start = std::chrono::steady_clock::now();
    const auto lost = send(server, "lost");
    EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
    EXPECT_EQ(lost.status, 503);
    EXPECT_EQ(lost.body, "Kafka Down : Service Unavailable");
    EXPECT_TRUE(comes_true([&] {
        return call(server.port(), "GET", "/readyz").body.find("kafka_unavailable") != std::string::npos;
    }));
    const auto counted = count_of_user(server);
    EXPECT_EQ(send(server, "refused").body, "Kafka Down : Service Unavailable");
    // It was certainly not published, so its place was given back.
    EXPECT_EQ(count_of_user(server), counted);

    kafka_.thaw();
    const std::string again = fresh_topic("again");
    EXPECT_TRUE(comes_true([&] { return send(server, again).status == 200; }));
    EXPECT_TRUE(server.process().wait_for_error_text("SMS Sent: 101: " + again));
    EXPECT_THAT(server.process().errors(), testing::Not(HasSubstr("refused")));
    server.process().signal(SIGTERM);
    EXPECT_EQ(server.process().wait().code, 0);
}

TEST_F(GatewayServer, StartsWithoutKafkaAndRefusesAtOnce) {
    const CliServer server{{"--store", "memory", "--kafka", "127.0.0.1:1"}};
    ASSERT_EQ(
        call(server.port(), "POST", "/api/config", R"({"userId":101,"rateLimit":1,"timeWindow":5})").status,
        200);

    EXPECT_EQ(send(server, "one").body, "Kafka Down : Service Unavailable");
    EXPECT_EQ(send(server, "two").body, "Kafka Down : Service Unavailable");

    EXPECT_EQ(count_of_user(server), "0");
}

// The whole command, on the topic that it has.
class SenderCommand : public testing::Test {
protected:
    void SetUp() override { SLUICE_NEEDS_KAFKA(); }
    static std::string put(int count) {
        std::string run = fresh_topic("run");
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
