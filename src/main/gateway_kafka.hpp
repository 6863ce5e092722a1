#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/gateway/arrival_sender.hpp"
#include "carry/gateway/kafka_publisher.hpp"
#include "main/settings.hpp"
#include "stream/kafka/consumer.hpp"

namespace prometheus {
struct MetricFamily;
}

namespace sluice {

// What surrounds the gateway's way over Kafka, and outlives it.
struct GatewayKafkaWorld {
    const Clock& clock;
    Log& log;
    Runtime& runtime;
};

// The topic of the gateway, and who reads it.
std::string outbound_topic();
std::string sender_group();

// Sees to it that the topic of the gateway is there.
std::unique_ptr<kafka::TopicKeeper> keep_outbound_topic(const Settings::Kafka& settings,
                                                        const GatewayKafkaWorld& world);

// Reads the topic of the gateway as a member of its group, and sends what comes.
// Thread safety: stop() and the end belong to one thread; the rest to any.
class TopicSender {
public:
    // Waits for no broker. Fails with one sentence.
    static Result<std::unique_ptr<TopicSender>, std::string> open(const Settings::Kafka& settings,
                                                                  std::unique_ptr<MessageOutlet> outlet,
                                                                  const GatewayKafkaWorld& world);
    ~TopicSender() { stop(); }
    TopicSender(const TopicSender&) = delete;
    TopicSender& operator=(const TopicSender&) = delete;

    [[nodiscard]] ArrivalCounts counts() const { return sender_.counts(); }
    [[nodiscard]] bool answers() const { return consumer_->state().up; }

    // The message under way is sent; what was sent is committed, and the group is left.
    void stop();

private:
    TopicSender(std::unique_ptr<kafka::Consumer> consumer, std::unique_ptr<MessageOutlet> outlet,
                const GatewayKafkaWorld& world);

    const std::unique_ptr<MessageOutlet> outlet_;
    const std::unique_ptr<kafka::Consumer> consumer_;
    const std::unique_ptr<Arrivals> arrivals_;
    ArrivalSender sender_;
};

// The gateway's way over Kafka: it publishes, and, if the settings say so, sends what comes.
// Thread safety: as TopicSender.
class GatewayKafka {
public:
    // As TopicSender::open. REQUIRES: the settings name brokers.
    static Result<std::unique_ptr<GatewayKafka>, std::string> open(const Settings& settings,
                                                                   std::unique_ptr<MessageOutlet> outlet,
                                                                   const GatewayKafkaWorld& world);

    Publisher& publisher() { return *publisher_; }
    // Whether the next message may be acknowledged, and read by the sender here, if there is one.
    [[nodiscard]] bool available() const;
    void collect(std::vector<prometheus::MetricFamily>& families) const;

    // The publisher first, if nobody has stopped it yet.
    void stop();

private:
    GatewayKafka() = default;

    std::unique_ptr<kafka::TopicKeeper> keeper_;
    std::unique_ptr<KafkaPublisher> publisher_;  // Before the keeper goes.
    std::unique_ptr<TopicSender> sender_;        // Null: others send.
};

}  // namespace sluice
