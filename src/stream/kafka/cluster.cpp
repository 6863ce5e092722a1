#include "stream/kafka/cluster.hpp"

#include <array>

#include "stream/kafka/client_internal.hpp"
#include "stream/kafka/topic_name.hpp"

namespace sluice::kafka {
namespace {

using Failure = Unexpected<std::string>;
using Words = std::array<char, 512>;

int milliseconds(Duration duration) { return static_cast<int>(duration.count()); }

std::string no_answer(const Access& access, std::string_view words) {
    return "Kafka at " + access.brokers + " does not answer: " + std::string{words} + ".";
}

// What the broker says about the only topic that was asked for.
Result<void, std::string> read_creation(const rd_kafka_event_t* event, const TopicTerms& topic) {
    const auto* const result = ::rd_kafka_event_CreateTopics_result(const_cast<rd_kafka_event_t*>(event));
    std::size_t count = 0;
    const auto* const* const topics =
        result == nullptr ? nullptr : ::rd_kafka_CreateTopics_result_topics(result, &count);
    if (count == 0) {
        return Failure{"Kafka says nothing about topic " + topic.name + "."};
    }
    const auto error = ::rd_kafka_topic_result_error(*topics);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR || error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
        return {};
    }
    const char* const words = ::rd_kafka_topic_result_error_string(*topics);
    return Failure{"Kafka does not make topic " + topic.name + ": " +
                   (words == nullptr ? ::rd_kafka_err2str(error) : words) + "."};
}

}  // namespace

Result<void, std::string> ensure_topic(const Access& access, const TopicTerms& topic, Duration timeout) {
    if (const auto fault = topic_name_fault(topic.name)) {
        return Failure{*fault};
    }
    const auto client = open_client(access, {});
    if (!client) {
        return Failure{client.error()};
    }
    Words words{};
    const Owned<rd_kafka_NewTopic_t> wanted{::rd_kafka_NewTopic_new(
        topic.name.c_str(), topic.partitions, topic.replication, words.data(), words.size())};
    if (wanted == nullptr) {
        return Failure{"Topic " + topic.name + " cannot be made: " + words.data() + "."};
    }
    const Owned<rd_kafka_queue_t> queue{::rd_kafka_queue_new(client->get())};
    std::array<rd_kafka_NewTopic_t*, 1> topics{wanted.get()};
    const Owned<rd_kafka_AdminOptions_t> terms{
        ::rd_kafka_AdminOptions_new(client->get(), RD_KAFKA_ADMIN_OP_CREATETOPICS)};
    // Otherwise the answer comes before all nodes know the topic.
    ::rd_kafka_AdminOptions_set_operation_timeout(terms.get(), milliseconds(timeout), words.data(),
                                                  words.size());
    ::rd_kafka_AdminOptions_set_request_timeout(terms.get(), milliseconds(timeout), words.data(),
                                                words.size());
    ::rd_kafka_CreateTopics(client->get(), topics.data(), topics.size(), terms.get(), queue.get());
    const Owned<rd_kafka_event_t> event{::rd_kafka_queue_poll(queue.get(), milliseconds(timeout))};
    if (event == nullptr) {
        return Failure{no_answer(access, "timed out")};
    }
    if (::rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return Failure{no_answer(access, ::rd_kafka_event_error_string(event.get()))};
    }
    return read_creation(event.get(), topic);
}

Result<ClusterFacts, std::string> examine_cluster(const Access& access, Duration timeout) {
    const auto client = open_client(access, {});
    if (!client) {
        return Failure{client.error()};
    }
    const rd_kafka_metadata_t* answer = nullptr;
    const auto error = ::rd_kafka_metadata(client->get(), 0, nullptr, &answer, milliseconds(timeout));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return Failure{no_answer(access, ::rd_kafka_err2str(error))};
    }
    const Owned<const rd_kafka_metadata_t> metadata{answer};
    return ClusterFacts{static_cast<std::size_t>(metadata->broker_cnt)};
}

}  // namespace sluice::kafka
