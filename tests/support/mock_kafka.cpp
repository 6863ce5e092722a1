#include "support/mock_kafka.hpp"

#include <stdexcept>

namespace sluice::test {

MockKafka::MockKafka()
    : client_{::rd_kafka_new(RD_KAFKA_PRODUCER, ::rd_kafka_conf_new(), nullptr, 0)},
      cluster_{client_ == nullptr ? nullptr : ::rd_kafka_mock_cluster_new(client_, 1)} {
    if (cluster_ == nullptr) {
        throw std::runtime_error{"librdkafka's mock does not start"};
    }
}

MockKafka::~MockKafka() {
    ::rd_kafka_mock_cluster_destroy(cluster_);
    ::rd_kafka_destroy(client_);
}

void MockKafka::answer(std::int16_t request, const std::vector<rd_kafka_resp_err_t>& errors) {
    ::rd_kafka_mock_push_request_errors_array(cluster_, request, errors.size(), errors.data());
}

void MockKafka::create_topic(const std::string& topic, int partitions) {
    ::rd_kafka_mock_topic_create(cluster_, topic.c_str(), partitions, 1);
}

void MockKafka::set_topic_error(const std::string& topic, rd_kafka_resp_err_t error) {
    ::rd_kafka_mock_topic_set_error(cluster_, topic.c_str(), error);
}

}  // namespace sluice::test
