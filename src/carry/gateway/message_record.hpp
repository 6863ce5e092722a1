#pragma once

#include <string>

#include "app/gateway/arrivals.hpp"
#include "stream/kafka/consumer.hpp"
#include "stream/kafka/producer.hpp"

namespace sluice {

// How messages of the gateway stand on a topic. The value is "{userId}: {message}", byte for byte; there is
// no key. Headers, those that a message has: `message-id`, `request-id`, `window-start`, `to`, `from`,
// `expires`; times as 2025-06-01T12:00:02.371Z.
kafka::Message record_of(const OutgoingMessage& message, const std::string& topic);

// The other way round. Anybody may write to the topic: a message without a legal `message-id` is known by its
// topic, partition and offset. Malformed: a value of another form; a text that no client could have given; or
// a `to`, `from` or `expires` that is none. `request-id` and `window-start` are not looked at.
Arrival arrival_of(const kafka::Record& record, const std::string& topic);

}  // namespace sluice
