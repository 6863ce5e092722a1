#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "base/unique_function.hpp"
#include "stream/kafka/access.hpp"
#include "stream/kafka/link_state.hpp"
#include "stream/kafka/report.hpp"

namespace sluice::kafka {

struct Message {
    std::string topic;                 // A legal name.
    std::optional<std::string> key{};  // Messages of one key go to one partition. Absent: to any.
    std::string value{};               // Arrives byte for byte; empty is not the same as absent.
    std::vector<std::pair<std::string, std::string>> headers{};  // In this order.
};

struct ProducerOptions {
    Access access;
    // A message that is not acknowledged so long after publish() is given up. See kReportSlack.
    Duration publish_timeout{5'000};
    // What waits to be sent, or for an acknowledgement. More is refused at once.
    std::size_t messages_max = 10'000;
    std::size_t bytes_max = std::size_t{64} << 20;
    std::string purpose{};  // Whose producer it is, for the log. Empty: nobody else has one.
};

// librdkafka looks for messages whose time is over once a second: so long after it an outcome may come.
inline constexpr Duration kReportSlack{2'000};

// Writes messages to Kafka: idempotently, acknowledged by all replicas in sync. What librdkafka sends again
// by itself within the time-out is not doubled, because brokers know it by its number.
// Messages of one key that are published one after another arrive in this order, as long as all are
// delivered.
//
// When librdkafka's producer is beyond repair, or the outcome of a message is unknown, another takes its
// place; whatever the old one has not sent by then is reported as not persisted.
//
// Topics that do not exist are made by the broker, if it does such things (auto.create.topics.enable), or
// else reported as not persisted.
//
// Thread safety: all of it.
class Producer {
public:
    virtual ~Producer() = default;  // As stop().

    // Called once, by a thread that all outcomes share, or within publish() if the message is refused. Must
    // not block, nor call stop().
    using Done = UniqueFunction<void(Report)>;
    // Never blocks. The outcome comes within the time-out and kReportSlack.
    virtual void publish(Message message, Done done) = 0;

    // For readiness. It follows what happens by itself, within a second or two.
    [[nodiscard]] virtual LinkState state() const = 0;

    // Takes no message any more, waits for the outcomes of all, and returns when all were reported: within
    // the time-out and kReportSlack. What is not acknowledged by then is reported as it stands.
    virtual void stop() = 0;
};

// Waits for no broker: it becomes up when one answers. Fails with one sentence, in librdkafka's words, on
// properties that it does not know or does not want.
Result<std::unique_ptr<Producer>, std::string> make_producer(ProducerOptions options, ClientWorld world);

}  // namespace sluice::kafka
