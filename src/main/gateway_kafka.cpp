#include "main/gateway_kafka.hpp"

#include <array>
#include <random>

#include <prometheus/metric_family.h>

#include "carry/gateway/kafka_arrivals.hpp"

namespace sluice {
namespace {

constexpr int kOutboundPartitions = 4;

prometheus::MetricFamily arrivals_family(const ArrivalCounts& counts) {
    prometheus::MetricFamily family{"sluice_gateway_arrivals_total",
                                    "Messages that came from Kafka to be sent, by what became of them; "
                                    "failed: tries that are made again.",
                                    prometheus::MetricType::Counter,
                                    {}};
    const std::array<std::pair<const char*, std::uint64_t>, 5> named{{{"sent", counts.sent},
                                                                      {"expired", counts.expired},
                                                                      {"doubled", counts.doubled},
                                                                      {"malformed", counts.malformed},
                                                                      {"failed", counts.failed}}};
    for (const auto& [outcome, count] : named) {
        prometheus::ClientMetric metric;
        metric.label = {{"outcome", outcome}};
        metric.counter.value = static_cast<double>(count);
        family.metric.push_back(std::move(metric));
    }
    return family;
}

}  // namespace

std::string outbound_topic() { return "sms-outbound"; }

std::string sender_group() { return "sluice-sender"; }

std::unique_ptr<kafka::TopicKeeper> keep_outbound_topic(const Settings::Kafka& settings,
                                                        const GatewayKafkaWorld& world) {
    const kafka::TopicTerms terms{outbound_topic(), kOutboundPartitions, settings.replication};
    return std::make_unique<kafka::TopicKeeper>(kafka::Access{settings.brokers}, terms,
                                                kafka::TopicKeeper::World{world.log, world.runtime});
}

Result<std::unique_ptr<TopicSender>, std::string> TopicSender::open(const Settings::Kafka& settings,
                                                                    std::unique_ptr<MessageOutlet> outlet,
                                                                    const GatewayKafkaWorld& world) {
    auto consumer = kafka::make_consumer({.access = {settings.brokers},
                                          .topic = outbound_topic(),
                                          .group = sender_group(),
                                          .purpose = "sender"},
                                         {world.clock, world.log});
    if (!consumer) {
        return Unexpected{consumer.error()};
    }
    return std::unique_ptr<TopicSender>{new TopicSender{std::move(*consumer), std::move(outlet), world}};
}

TopicSender::TopicSender(std::unique_ptr<kafka::Consumer> consumer, std::unique_ptr<MessageOutlet> outlet,
                         const GatewayKafkaWorld& world)
    : outlet_{std::move(outlet)},
      consumer_{std::move(consumer)},
      arrivals_{make_kafka_arrivals(outbound_topic(), *consumer_)},
      sender_{{.seed = std::random_device{}()},
              {*arrivals_, *outlet_, world.clock, world.log, world.runtime}} {}

void TopicSender::stop() {
    sender_.stop();
    consumer_->stop();
}

Result<std::unique_ptr<GatewayKafka>, std::string> GatewayKafka::open(const Settings& settings,
                                                                      std::unique_ptr<MessageOutlet> outlet,
                                                                      const GatewayKafkaWorld& world) {
    std::unique_ptr<GatewayKafka> opened{new GatewayKafka};
    opened->keeper_ = keep_outbound_topic(settings.kafka, world);
    auto publisher = make_kafka_publisher({.access = {settings.kafka.brokers},
                                           .topic = outbound_topic(),
                                           .publish_timeout = settings.kafka.publish_timeout},
                                          *opened->keeper_, {world.clock, world.log});
    if (!publisher) {
        return Unexpected{publisher.error()};
    }
    opened->publisher_ = std::move(*publisher);
    if (settings.gateway.sender) {
        auto sender = TopicSender::open(settings.kafka, std::move(outlet), world);
        if (!sender) {
            return Unexpected{sender.error()};
        }
        opened->sender_ = std::move(*sender);
    }
    return opened;
}

bool GatewayKafka::available() const {
    return publisher_->available() && (sender_ == nullptr || sender_->answers());
}

void GatewayKafka::collect(std::vector<prometheus::MetricFamily>& families) const {
    if (sender_ != nullptr) {
        families.push_back(arrivals_family(sender_->counts()));
    }
}

void GatewayKafka::stop() {
    publisher_->stop();
    if (sender_ != nullptr) {
        sender_->stop();
    }
    keeper_->stop();
}

}  // namespace sluice
