#include <array>

#include "stream/kafka/client_internal.hpp"

namespace sluice::kafka {
namespace {

using Failure = Unexpected<std::string>;
using Words = std::array<char, 512>;  // As librdkafka wants it for its complaints.

// The same setting by another name would undo ours.
std::string_view usual_name(std::string_view property) {
    constexpr std::array<std::array<std::string_view, 2>, 5> kOtherNames{{
        {"metadata.broker.list", "bootstrap.servers"},
        {"request.required.acks", "acks"},
        {"delivery.timeout.ms", "message.timeout.ms"},
        {"max.in.flight", "max.in.flight.requests.per.connection"},
        {"socket.blocking.max.ms", "socket.timeout.ms"},
    }};
    for (const auto& [other, usual] : kOtherNames) {
        if (property == other) {
            return usual;
        }
    }
    return property;
}

Result<void, std::string> set(rd_kafka_conf_t* conf, const Properties& properties) {
    for (const auto& [name, value] : properties) {
        Words words{};
        if (::rd_kafka_conf_set(conf, name.c_str(), value.c_str(), words.data(), words.size()) !=
            RD_KAFKA_CONF_OK) {
            return Failure{"Kafka property " + name + ": " + words.data() + "."};
        }
    }
    return {};
}

}  // namespace

Result<Owned<rd_kafka_t>, std::string> open_client(const Access& access, const ClientSettings& settings) {
    if (access.brokers.empty()) {
        return Failure{"Kafka needs the address of a broker, as host:port."};
    }
    for (const auto& [name, value] : access.properties) {
        const std::string usual{usual_name(name)};
        if (usual == "bootstrap.servers" || settings.promised.contains(usual)) {
            return Failure{"Kafka property " + name + " cannot be set: Sluice sets it by itself."};
        }
    }
    Owned<rd_kafka_conf_t> conf{::rd_kafka_conf_new()};
    for (const Properties& properties :
         {Properties{{"bootstrap.servers", access.brokers}, {"client.id", "sluice"}, {"log.queue", "true"}},
          settings.defaults, access.properties, settings.promised}) {
        if (const auto done = set(conf.get(), properties); !done) {
            return Failure{done.error()};
        }
    }
    ::rd_kafka_conf_set_events(
        conf.get(), RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_LOG | RD_KAFKA_EVENT_STATS);
    Words words{};
    Owned<rd_kafka_t> client{::rd_kafka_new(RD_KAFKA_PRODUCER, conf.get(), words.data(), words.size())};
    if (client == nullptr) {
        return Failure{std::string{"Kafka: "} + words.data() + "."};
    }
    static_cast<void>(conf.release());  // The client's now.
    ::rd_kafka_set_log_queue(client.get(), nullptr);
    return client;
}

}  // namespace sluice::kafka
