#include "stream/kafka/cluster.hpp"

#include <algorithm>
#include <array>
#include <span>

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

// Asks for all topics: a question about one could make it.
Result<bool, std::string> is_there(rd_kafka_t* client, const Access& access, const std::string& name,
                                   Duration timeout) {
    const rd_kafka_metadata_t* answer = nullptr;
    const auto error = ::rd_kafka_metadata(client, 1, nullptr, &answer, milliseconds(timeout));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return Failure{no_answer(access, ::rd_kafka_err2str(error))};
    }
    const Owned<const rd_kafka_metadata_t> metadata{answer};
    const std::span topics{metadata->topics, static_cast<std::size_t>(metadata->topic_cnt)};
    return std::any_of(topics.begin(), topics.end(), [&](const rd_kafka_metadata_topic& topic) {
        return topic.topic == name && topic.err == RD_KAFKA_RESP_ERR_NO_ERROR;
    });
}

Result<void, std::string> make_topic(rd_kafka_t* client, const Access& access, const TopicTerms& topic,
                                     Duration timeout) {
    Words words{};
    const Owned<rd_kafka_NewTopic_t> wanted{::rd_kafka_NewTopic_new(
        topic.name.c_str(), topic.partitions, topic.replication, words.data(), words.size())};
    if (wanted == nullptr) {
        return Failure{"Topic " + topic.name + " cannot be made: " + words.data() + "."};
    }
    const Owned<rd_kafka_queue_t> queue{::rd_kafka_queue_new(client)};
    std::array<rd_kafka_NewTopic_t*, 1> topics{wanted.get()};
    const Owned<rd_kafka_AdminOptions_t> terms{
        ::rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_CREATETOPICS)};
    // Otherwise the answer comes before all nodes know the topic.
    ::rd_kafka_AdminOptions_set_operation_timeout(terms.get(), milliseconds(timeout), words.data(),
                                                  words.size());
    ::rd_kafka_AdminOptions_set_request_timeout(terms.get(), milliseconds(timeout), words.data(),
                                                words.size());
    ::rd_kafka_CreateTopics(client, topics.data(), topics.size(), terms.get(), queue.get());
    const Owned<rd_kafka_event_t> event{::rd_kafka_queue_poll(queue.get(), milliseconds(timeout))};
    if (event == nullptr) {
        return Failure{no_answer(access, "timed out")};
    }
    if (::rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return Failure{no_answer(access, ::rd_kafka_event_error_string(event.get()))};
    }
    return read_creation(event.get(), topic);
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
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    const auto there = is_there(client->get(), access, topic.name, timeout);
    if (!there) {
        return Failure{there.error()};
    }
    const auto left = std::chrono::ceil<Duration>(deadline - std::chrono::steady_clock::now());
    return *there ? Result<void, std::string>{}
                  : make_topic(client->get(), access, topic, std::max(left, Duration{1}));
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
