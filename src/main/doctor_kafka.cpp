#include "main/doctor_kafka.hpp"

#include "stream/kafka/cluster.hpp"

namespace sluice {

Finding check_kafka(const Settings::Kafka& settings) {
    constexpr Duration kPatience{3'000};
    const auto facts = kafka::examine_cluster({settings.brokers}, kPatience);
    if (!facts) {
        return {
            "kafka", false, facts.error(),
            "Check the address and the network; until a broker answers, work for topics is tried again and "
            "again."};
    }
    return {"kafka", true,
            "It answers, and has " + std::to_string(facts->brokers) +
                (facts->brokers == 1 ? " broker." : " brokers.")};
}

}  // namespace sluice
