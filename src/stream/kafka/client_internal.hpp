#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <librdkafka/rdkafka.h>

#include "base/result.hpp"
#include "stream/kafka/access.hpp"

namespace sluice::kafka {

struct Destroy {
    void operator()(rd_kafka_conf_t* it) const { ::rd_kafka_conf_destroy(it); }
    void operator()(rd_kafka_t* it) const { ::rd_kafka_destroy(it); }
    void operator()(rd_kafka_queue_t* it) const { ::rd_kafka_queue_destroy(it); }
    void operator()(rd_kafka_event_t* it) const { ::rd_kafka_event_destroy(it); }
    void operator()(rd_kafka_error_t* it) const { ::rd_kafka_error_destroy(it); }
    void operator()(rd_kafka_AdminOptions_t* it) const { ::rd_kafka_AdminOptions_destroy(it); }
    void operator()(rd_kafka_NewTopic_t* it) const { ::rd_kafka_NewTopic_destroy(it); }
    void operator()(rd_kafka_headers_t* it) const { ::rd_kafka_headers_destroy(it); }
    void operator()(rd_kafka_topic_partition_list_t* it) const {
        ::rd_kafka_topic_partition_list_destroy(it);
    }
    void operator()(const rd_kafka_metadata_t* it) const { ::rd_kafka_metadata_destroy(it); }
};
template <class T>
using Owned = std::unique_ptr<T, Destroy>;

using Properties = std::map<std::string, std::string>;

// Our own settings. The access beats `defaults`, and may not name what is in `promised`.
struct ClientSettings {
    Properties defaults{};
    Properties promised{};
    rd_kafka_type_t kind = RD_KAFKA_PRODUCER;
};

// A client that reports by events on its main queue (a consumer on its own, once that is asked for), and
// never by callbacks. Fails with one sentence.
Result<Owned<rd_kafka_t>, std::string> open_client(const Access& access, const ClientSettings& settings);

// How many brokers are connected, by the statistics of a client.
std::size_t connected_in(std::string_view statistics);

}  // namespace sluice::kafka
