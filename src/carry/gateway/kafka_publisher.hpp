#pragma once

#include <memory>
#include <string>

#include "app/gateway/publisher.hpp"
#include "stream/kafka/link_state.hpp"
#include "stream/kafka/producer.hpp"
#include "stream/kafka/topic_keeper.hpp"

namespace sluice {

struct KafkaPublisherOptions {
    kafka::Access access;
    std::string topic;
    Duration publish_timeout{5'000};  // More than kPublishTimeoutMax counts as that.
    // What waits for its outcome. More is refused at once.
    std::size_t messages_max = 10'000;
};

// So that an outcome comes within the time that a Publisher has.
inline constexpr Duration kPublishTimeoutMax{5'000};

// A publisher that can say how it is.
class KafkaPublisher : public Publisher {
public:
    // Whether the next message may be acknowledged, as far as is known. Any thread.
    [[nodiscard]] virtual bool available() const = 0;
};

// Hands messages over to a topic, as record_of() says, acknowledged by all replicas in sync. It has a
// producer of its own, so that nothing that others publish delays or harms its messages.
//
// NotPublished: the message is certainly not on the topic, nor will it be. That includes all that comes while
// the topic is not there, or no broker can be reached: these are answered at once, and nothing is kept for
// later. Why another message is not acknowledged is logged once, until one is.
//
// The keeper of the topic and the world outlive it. Fails with one sentence.
Result<std::unique_ptr<KafkaPublisher>, std::string> make_kafka_publisher(KafkaPublisherOptions options,
                                                                          kafka::TopicKeeper& keeper,
                                                                          kafka::ClientWorld world);

}  // namespace sluice
