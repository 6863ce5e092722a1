#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "app/gateway/arrival_sender.hpp"
#include "carry/gateway/kafka_arrivals.hpp"
#include "carry/gateway/kafka_publisher.hpp"
#include "support/recording_log.hpp"

namespace sluice::test {

inline OutgoingMessage numbered_message(int number) {
    return {.id = *MessageId::make("id-" + std::to_string(number)),
            .user = {7},
            .text = "m" + std::to_string(number)};
}

// Looks until it is so.
template <class Reached>
bool comes_true(Reached reached, std::chrono::seconds patience = std::chrono::seconds{60}) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!reached()) {
        if (std::chrono::steady_clock::now() > deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{5});  // Between two looks.
    }
    return true;
}

// A publisher on a topic, and what it said of each message.
class PublisherProbe {
public:
    PublisherProbe(const std::string& brokers, const std::string& topic, Duration timeout) {
        keeper_ = std::make_unique<kafka::TopicKeeper>(kafka::Access{brokers}, kafka::TopicTerms{topic, 4, 1},
                                                       kafka::TopicKeeper::World{log_, *runtime_});
        publisher_ = *make_kafka_publisher({.access = {brokers}, .topic = topic, .publish_timeout = timeout},
                                           *keeper_, {clock_, log_});
    }

    KafkaPublisher& publisher() { return *publisher_; }
    [[nodiscard]] const RecordingLog& log() const { return log_; }

    void publish(OutgoingMessage message) {
        const std::string text = message.text;
        const auto start = std::chrono::steady_clock::now();
        publisher_->publish(std::move(message), [this, text, start](Published outcome) {
            const std::lock_guard lock{mutex_};
            outcomes_[text] = outcome;
            slowest_ = std::max(slowest_, std::chrono::steady_clock::now() - start);
        });
    }
    Published outcome_of(OutgoingMessage message) {
        const std::string text = message.text;
        publish(std::move(message));
        EXPECT_TRUE(comes_true([&] { return outcomes().contains(text); }));
        return outcomes()[text];
    }
    [[nodiscard]] std::map<std::string, Published> outcomes() const {
        const std::lock_guard lock{mutex_};
        return outcomes_;
    }
    [[nodiscard]] std::chrono::nanoseconds slowest() const {
        const std::lock_guard lock{mutex_};
        return slowest_;
    }

private:
    const std::unique_ptr<Runtime> runtime_ = make_machine_runtime();
    const SystemClock clock_;
    RecordingLog log_;
    mutable std::mutex mutex_;
    std::map<std::string, Published> outcomes_;  // Guarded by mutex_, like the next. By text.
    std::chrono::nanoseconds slowest_{};
    std::unique_ptr<kafka::TopicKeeper> keeper_;
    std::unique_ptr<KafkaPublisher> publisher_;  // Last: it reports to the rest.
};

// A member of a group that sends what comes, and what it sent.
class SenderProbe final : private MessageOutlet {
public:
    SenderProbe(const std::string& brokers, const std::string& topic) {
        consumer_ = *kafka::make_consumer(
            {.access = {brokers}, .topic = topic, .group = "g-" + topic, .purpose = "sender"},
            {clock_, log_});
        arrivals_ = make_kafka_arrivals(topic, *consumer_);
        sender_ = std::make_unique<ArrivalSender>(
            ArrivalSenderOptions{}, ArrivalSender::World{*arrivals_, *this, clock_, log_, *runtime_});
    }
    ~SenderProbe() override { stop(); }
    SenderProbe(const SenderProbe&) = delete;
    SenderProbe& operator=(const SenderProbe&) = delete;

    void stop() {
        sender_->stop();
        consumer_->stop();
    }
    [[nodiscard]] const RecordingLog& log() const { return log_; }
    [[nodiscard]] ArrivalCounts counts() const { return sender_->counts(); }
    [[nodiscard]] std::map<std::string, int> sent() const {
        const std::lock_guard lock{mutex_};
        return sent_;
    }

private:
    bool send(const OutgoingMessage& message) override {
        const std::lock_guard lock{mutex_};
        ++sent_[message.text];
        return true;
    }

    const std::unique_ptr<Runtime> runtime_ = make_machine_runtime();
    const SystemClock clock_;
    RecordingLog log_;
    mutable std::mutex mutex_;
    std::map<std::string, int> sent_;  // Guarded by mutex_. How often, by text.
    std::unique_ptr<kafka::Consumer> consumer_;
    std::unique_ptr<Arrivals> arrivals_;
    std::unique_ptr<ArrivalSender> sender_;  // Last: it uses all the rest.
};

}  // namespace sluice::test
