#pragma once

#include <string>
#include <vector>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

namespace sluice::test {

// librdkafka's own play of a broker, in this process: for answers that a real one gives once in a blue moon.
class MockKafka {
public:
    static constexpr std::int16_t kProduce = 0;
    static constexpr std::int16_t kInitProducerId = 22;

    MockKafka();
    ~MockKafka();
    MockKafka(const MockKafka&) = delete;
    MockKafka& operator=(const MockKafka&) = delete;

    [[nodiscard]] std::string brokers() const { return ::rd_kafka_mock_cluster_bootstraps(cluster_); }
    // The next requests of a kind are answered so, one after another.
    void answer(std::int16_t request, const std::vector<rd_kafka_resp_err_t>& errors);
    void create_topic(const std::string& topic, int partitions);
    // What is asked about a topic from now on.
    void set_topic_error(const std::string& topic, rd_kafka_resp_err_t error);
    void set_down() { ::rd_kafka_mock_broker_set_down(cluster_, 1); }
    void set_up() { ::rd_kafka_mock_broker_set_up(cluster_, 1); }
    // Answers come so late.
    void set_delay(int milliseconds) { ::rd_kafka_mock_broker_set_rtt(cluster_, 1, milliseconds); }

private:
    rd_kafka_t* client_;  // Only to have a cluster.
    rd_kafka_mock_cluster_t* cluster_;
};

}  // namespace sluice::test
