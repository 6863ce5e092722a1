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
    constexpr int kOfAll = RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_LOG | RD_KAFKA_EVENT_STATS;
    ::rd_kafka_conf_set_events(conf.get(), kOfAll | (settings.kind == RD_KAFKA_PRODUCER
                                                         ? RD_KAFKA_EVENT_DR
                                                         : RD_KAFKA_EVENT_FETCH | RD_KAFKA_EVENT_REBALANCE));
    Words words{};
    Owned<rd_kafka_t> client{::rd_kafka_new(settings.kind, conf.get(), words.data(), words.size())};
    if (client == nullptr) {
        return Failure{std::string{"Kafka: "} + words.data() + "."};
    }
    static_cast<void>(conf.release());  // The client's now.
    ::rd_kafka_set_log_queue(client.get(), nullptr);
    return client;
}

// The statistics are JSON of librdkafka's own making, in which a broker that can be used has this field, and
// nothing else has. Names of topics and hosts have no quotes.
std::size_t connected_in(std::string_view statistics) {
    constexpr std::string_view kConnected = R"("state":"UP")";
    std::size_t count = 0;
    for (auto at = statistics.find(kConnected); at != std::string_view::npos;
         at = statistics.find(kConnected, at + kConnected.size())) {
        ++count;
    }
    return count;
}

}  // namespace sluice::kafka
