#include "support/kafka_fixture.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <stdexcept>

#include <librdkafka/rdkafka.h>

namespace sluice::test {
namespace {

constexpr int kPatienceMs = 20'000;

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

struct Destroy {
    void operator()(rd_kafka_t* it) const { ::rd_kafka_destroy(it); }
    void operator()(rd_kafka_topic_partition_list_t* it) const {
        ::rd_kafka_topic_partition_list_destroy(it);
    }
    void operator()(rd_kafka_message_t* it) const { ::rd_kafka_message_destroy(it); }
    void operator()(rd_kafka_topic_t* it) const { ::rd_kafka_topic_destroy(it); }
};
template <class T>
using Owned = std::unique_ptr<T, Destroy>;

Owned<rd_kafka_t> open_consumer() {
    rd_kafka_conf_t* const conf = ::rd_kafka_conf_new();
    std::array<char, 512> words{};
    const std::string brokers = kafka_address();
    for (const auto& [name, value] :
         {std::pair{"bootstrap.servers", brokers.c_str()}, std::pair{"group.id", "sluice-tests"},
          std::pair{"enable.partition.eof", "true"}}) {
        ::rd_kafka_conf_set(conf, name, value, words.data(), words.size());
    }
    Owned<rd_kafka_t> consumer{::rd_kafka_new(RD_KAFKA_CONSUMER, conf, words.data(), words.size())};
    if (consumer == nullptr) {
        throw std::runtime_error{words.data()};
    }
    return consumer;
}

int partitions_of(rd_kafka_t* client, const std::string& topic) {
    const Owned<rd_kafka_topic_t> asked{::rd_kafka_topic_new(client, topic.c_str(), nullptr)};
    const rd_kafka_metadata_t* answer = nullptr;
    if (::rd_kafka_metadata(client, 0, asked.get(), &answer, kPatienceMs) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        throw std::runtime_error{"Kafka tells nothing about " + topic};
    }
    const int count = answer->topic_cnt == 1 ? answer->topics[0].partition_cnt : 0;
    ::rd_kafka_metadata_destroy(answer);
    return count;
}

std::optional<std::string> text(const void* bytes, std::size_t size) {
    return bytes == nullptr ? std::nullopt
                            : std::optional{std::string(static_cast<const char*>(bytes), size)};
}

ReceivedMessage received(const rd_kafka_message_t& message) {
    ReceivedMessage result{
        text(message.key, message.key_len), text(message.payload, message.len), {}, message.partition};
    rd_kafka_headers_t* headers = nullptr;
    if (::rd_kafka_message_headers(&message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        const char* name = nullptr;
        const void* value = nullptr;
        std::size_t size = 0;
        for (std::size_t at = 0;
             ::rd_kafka_header_get_all(headers, at, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
             ++at) {
            result.headers.emplace_back(name, text(value, size).value_or("(null)"));
        }
    }
    return result;
}

}  // namespace

std::string kafka_address() { return variable("SLUICE_TEST_KAFKA"); }

std::string fresh_topic(const std::string& beginning) {
    return beginning + "-" + std::to_string(std::random_device{}()) + std::to_string(std::random_device{}());
}

int partitions_of(const std::string& topic) { return partitions_of(open_consumer().get(), topic); }

std::vector<ReceivedMessage> read_topic(const std::string& topic) {
    const auto consumer = open_consumer();
    ::rd_kafka_poll_set_consumer(consumer.get());
    int left = partitions_of(consumer.get(), topic);
    const Owned<rd_kafka_topic_partition_list_t> all{::rd_kafka_topic_partition_list_new(left)};
    for (int partition = 0; partition < left; ++partition) {
        ::rd_kafka_topic_partition_list_add(all.get(), topic.c_str(), partition)->offset =
            RD_KAFKA_OFFSET_BEGINNING;
    }
    ::rd_kafka_assign(consumer.get(), all.get());
    std::vector<ReceivedMessage> messages;
    while (left > 0) {
        const Owned<rd_kafka_message_t> message{::rd_kafka_consumer_poll(consumer.get(), kPatienceMs)};
        if (message == nullptr) {
            throw std::runtime_error{"Kafka does not show what is on " + topic};
        }
        if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            --left;
        } else if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            messages.push_back(received(*message));
        }
    }
    ::rd_kafka_consumer_close(consumer.get());
    return messages;
}

KafkaServer::~KafkaServer() {
    try {
        if (frozen_) {
            thaw();
        }
        if (killed_) {
            revive();
        }
    } catch (const std::exception& problem) {
        ADD_FAILURE() << problem.what();
    }
}

void KafkaServer::freeze() {
    signal(SIGSTOP);
    frozen_ = true;
}

void KafkaServer::thaw() {
    signal(SIGCONT);
    frozen_ = false;
}

void KafkaServer::kill() {
    signal(SIGKILL);
    killed_ = true;
}

void KafkaServer::revive() {
    if (std::system(SLUICE_SERVICES_TOOL " revive kafka 2>/dev/null") != 0) {
        throw std::runtime_error{"Kafka does not start again"};
    }
    killed_ = false;
}

// The state file of tools/services says where its folder is, and there is its pid.
void KafkaServer::signal(int number) {
    std::string state = variable("SLUICE_SERVICES");
    state = state.empty() ? SLUICE_SERVICES_STATE : state;
    std::string folder;
    std::ifstream{state + "/kafka"} >> folder;
    pid_t pid = 0;
    std::ifstream{folder + "/pid"} >> pid;
    if (pid <= 0 || ::kill(pid, number) != 0) {
        throw std::runtime_error{"no Kafka to send a signal to"};
    }
}

}  // namespace sluice::test
