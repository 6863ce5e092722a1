#pragma once

#include <memory>

#include "app/gateway/arrivals.hpp"
#include "stream/kafka/consumer.hpp"

namespace sluice {

// What comes to a consumer of this topic. The consumer outlives it.
std::unique_ptr<Arrivals> make_kafka_arrivals(std::string topic, kafka::Consumer& consumer);

}  // namespace sluice
