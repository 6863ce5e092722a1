#pragma once

#include <memory>

#include "app/dispatch/carrier.hpp"
#include "stream/kafka/producer.hpp"

namespace sluice {

struct KafkaCarrierOptions {
    Duration publish_timeout{5'000};   // Of the producer.
    std::size_t concurrent_max = 256;  // To one topic.
};

// Carries work to topics of Kafka: the payload is the value, byte for byte, and the eventId the key. The
// header `idempotency-key` is the eventId too, and the same on every try, since a work whose outcome is not
// known goes out again; `traceparent` is there if somebody gave one.
// A target with an illegal name of a topic is refused as "invalid_target". All topics belong to no host, and
// each is an endpoint of its own. Work that Kafka will never take (too large, against a policy) is Refused;
// whatever else goes wrong is Failed.
// While no broker can be reached nothing is handed to the producer: it would leave in a burst later, when
// nobody asks any more whether it may.
// The producer outlives the carrier, and is not stopped with it.
std::unique_ptr<Carrier> make_kafka_carrier(KafkaCarrierOptions options, kafka::Producer& producer);

}  // namespace sluice
