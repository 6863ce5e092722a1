// A broker that freezes, dies and comes back.
#include <chrono>
#include <thread>

#include <gmock/gmock.h>

#include "stream/kafka/cluster.hpp"
#include "support/kafka_fixture.hpp"
#include "support/kafka_probe.hpp"

namespace sluice::test {
namespace {

using kafka::Outcome;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kTimeout{3'000};

class KafkaFault : public testing::Test {
protected:
    void SetUp() override {
        SLUICE_NEEDS_KAFKA();
        ASSERT_TRUE(kafka::ensure_topic({kafka_address()}, {topic_, 4, 1}, milliseconds{20'000}));
        probe_ = std::make_unique<KafkaProbe>(
            kafka::ProducerOptions{.access = {.brokers = kafka_address()}, .publish_timeout = kTimeout});
        ASSERT_TRUE(delivered_at_last("first"));
    }

    // Until a message is delivered; all before it were certainly not written.
    testing::AssertionResult delivered_at_last(const std::string& value) {
        const auto deadline = steady_clock::now() + std::chrono::seconds{40};
        while (steady_clock::now() < deadline) {
            const auto report = probe_->outcome_of({.topic = topic_, .value = value});
            if (report.outcome == Outcome::Delivered) {
                return testing::AssertionSuccess();
            }
            if (report.outcome == Outcome::Unknown) {
                return testing::AssertionFailure() << "unknown: " << report.reason;
            }
        }
        return testing::AssertionFailure() << "nothing is delivered";
    }

    [[nodiscard]] std::map<std::string, int> on_topic() const {
        std::map<std::string, int> counts;
        for (const auto& message : read_topic(topic_)) {
            ++counts[message.value.value_or("(null)")];
        }
        return counts;
    }

    const std::string topic_ = fresh_topic("fault");
    std::unique_ptr<KafkaProbe> probe_;
    KafkaServer server_;
};

TEST_F(KafkaFault, LeavesTheOutcomeUnknownWhenTheBrokerFreezesAndGoesOnAfterwards) {
    server_.freeze();
    const auto start = steady_clock::now();
    const int sent = probe_->publish({.topic = topic_, .value = "frozen"});

    const auto report = probe_->report_of(sent);
    const auto took = steady_clock::now() - start;

    EXPECT_EQ(report.outcome, Outcome::Unknown);
    EXPECT_GE(took, kTimeout - milliseconds{100});
    EXPECT_LT(took, kTimeout + kafka::kReportSlack);

    // What nobody could send to the frozen broker is certainly not there.
    const auto second = probe_->outcome_of({.topic = topic_, .value = "never"});
    EXPECT_EQ(second.outcome, Outcome::NotPersisted) << second.reason;
    EXPECT_FALSE(probe_->producer().state().up);

    server_.thaw();
    EXPECT_TRUE(delivered_at_last("thawed"));
    const auto counts = on_topic();
    EXPECT_EQ(counts.at("first"), 1);
    EXPECT_EQ(counts.at("thawed"), 1);
    EXPECT_FALSE(counts.contains("never"));
    EXPECT_LE(counts.contains("frozen") ? counts.at("frozen") : 0, 1);
}

TEST_F(KafkaFault, HasEveryDeliveredMessageOnceAndNoRefusedOneWhenTheBrokerIsKilledUnderLoad) {
    constexpr int kMessages = 3'000;
    for (int message = 0; message < kMessages; ++message) {
        probe_->publish({.topic = topic_, .key = std::to_string(message), .value = std::to_string(message)});
        if (message == kMessages / 2) {
            server_.kill();
        }
    }
    std::vector<Outcome> outcomes;
    for (int message = 0; message < kMessages; ++message) {
        outcomes.push_back(probe_->report_of(message + 1).outcome);  // One was delivered before.
    }
    // All of it was seen to be down: what comes now cannot have left.
    EXPECT_FALSE(probe_->producer().state().up);
    EXPECT_THAT(probe_->producer().state().reason, testing::HasSubstr("is down: "));
    const auto start = steady_clock::now();
    const auto dead = probe_->outcome_of({.topic = topic_, .value = "dead"});
    EXPECT_EQ(dead.outcome, Outcome::NotPersisted) << dead.reason;
    EXPECT_LT(steady_clock::now() - start, kTimeout + kafka::kReportSlack);

    server_.revive();

    EXPECT_TRUE(delivered_at_last("revived"));
    EXPECT_TRUE(probe_->producer().state().up);
    const auto counts = on_topic();
    EXPECT_EQ(counts.at("revived"), 1);
    EXPECT_FALSE(counts.contains("dead"));
    for (int message = 0; message < kMessages; ++message) {
        const auto found = counts.find(std::to_string(message));
        const int count = found == counts.end() ? 0 : found->second;
        switch (outcomes[static_cast<std::size_t>(message)]) {
            case Outcome::Delivered: EXPECT_EQ(count, 1) << message; break;
            case Outcome::NotPersisted: EXPECT_EQ(count, 0) << message; break;
            case Outcome::Unknown: EXPECT_LE(count, 1) << message; break;
        }
    }
    EXPECT_EQ(probe_->repeated(), 0);
}

}  // namespace
}  // namespace sluice::test
