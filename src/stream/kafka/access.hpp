#pragma once

#include <map>
#include <string>

namespace sluice::kafka {

// How a Kafka cluster is reached.
struct Access {
    std::string brokers;  // "host:port,host:port": any of them tells about the others.
    // Settings of librdkafka, mostly for TLS and SASL: {"security.protocol", "SASL_SSL"}. They beat our own
    // defaults, except those on which promises rest: these are refused, as are unknown ones.
    std::map<std::string, std::string> properties{};
};

}  // namespace sluice::kafka
