#include "carry/gateway/kafka_publisher.hpp"

#include <algorithm>
#include <mutex>

#include "carry/gateway/message_record.hpp"

namespace sluice {
namespace {

constexpr std::string_view kPublisherComponent = "Gateway";

Published published(kafka::Outcome outcome) {
    switch (outcome) {
        case kafka::Outcome::Delivered: return Published::Acknowledged;
        case kafka::Outcome::NotPersisted: return Published::NotPublished;
        case kafka::Outcome::Unknown: break;
    }
    return Published::Unknown;
}

class ProducingPublisher final : public KafkaPublisher {
public:
    ProducingPublisher(std::string topic, kafka::TopicKeeper& keeper, kafka::ClientWorld world)
        : topic_{std::move(topic)}, keeper_{keeper}, world_{world} {}

    Result<void, std::string> open(kafka::ProducerOptions options) {
        auto made = kafka::make_producer(std::move(options), world_);
        if (!made) {
            return Unexpected{made.error()};
        }
        producer_ = std::move(*made);
        return {};
    }

    void publish(OutgoingMessage message, Done done) override {
        const auto link = producer_->state();
        watch(link);
        if (!keeper_.is_there() || (!link.up && link.ever_up)) {
            done(Published::NotPublished);
            return;
        }
        producer_->publish(record_of(message, topic_),
                           [this, done = std::move(done)](const kafka::Report& report) mutable {
                               judge(report);
                               done(published(report.outcome));
                           });
    }

    [[nodiscard]] bool available() const override { return keeper_.is_there() && producer_->state().up; }

    void stop() override { producer_->stop(); }

private:
    // Brokers that come back may be others, without the topic.
    void watch(const kafka::LinkState& link) {
        if (!link.up) {
            return;
        }
        const std::lock_guard lock{mutex_};
        const bool returned = up_since_ != Instant{} && up_since_ != link.since;
        up_since_ = link.since;
        if (returned) {
            keeper_.look_again();
        }
    }

    void judge(const kafka::Report& report) {
        const bool refused = report.outcome != kafka::Outcome::Delivered;
        {
            const std::lock_guard lock{mutex_};
            if (refused == told_) {
                return;
            }
            told_ = refused;
        }
        if (refused) {
            world_.log.write(LogLevel::Warn, kPublisherComponent,
                             "a message was not published to " + topic_ + ": " + report.reason);
        }
    }

    const std::string topic_;
    kafka::TopicKeeper& keeper_;
    const kafka::ClientWorld world_;
    std::mutex mutex_;
    Instant up_since_{};                         // Guarded by mutex_, like the next. Of the link.
    bool told_ = false;                          // That messages are not acknowledged.
    std::unique_ptr<kafka::Producer> producer_;  // Last: it reports to the rest.
};

}  // namespace

Result<std::unique_ptr<KafkaPublisher>, std::string> make_kafka_publisher(KafkaPublisherOptions options,
                                                                          kafka::TopicKeeper& keeper,
                                                                          kafka::ClientWorld world) {
    constexpr std::size_t kBytesPerMessage = std::size_t{4} * 1024;
    auto publisher = std::make_unique<ProducingPublisher>(std::move(options.topic), keeper, world);
    const auto opened =
        publisher->open({.access = std::move(options.access),
                         .publish_timeout = std::min(options.publish_timeout, kPublishTimeoutMax),
                         .messages_max = options.messages_max,
                         .bytes_max = std::max(std::size_t{1} << 20, options.messages_max * kBytesPerMessage),
                         .purpose = "gateway"});
    if (!opened) {
        return Unexpected{opened.error()};
    }
    return std::unique_ptr<KafkaPublisher>{std::move(publisher)};
}

}  // namespace sluice
