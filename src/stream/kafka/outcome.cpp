#include "stream/kafka/outcome_internal.hpp"

namespace sluice::kafka {
namespace {

// What is wrong with the message itself stays wrong.
bool is_about_the_message(rd_kafka_resp_err_t error) {
    switch (error) {
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
        case RD_KAFKA_RESP_ERR_INVALID_MSG:
        case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
        case RD_KAFKA_RESP_ERR_INVALID_RECORD:
        case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
        case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
        case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
        case RD_KAFKA_RESP_ERR__INVALID_ARG: return true;
        default: return false;
    }
}

// A broker gives this code for whatever it did not expect, which may have struck after the write. librdkafka
// takes every code that it has no rule for as a refusal; for this one that is too bold.
bool may_follow_a_write(rd_kafka_resp_err_t error) { return error == RD_KAFKA_RESP_ERR_UNKNOWN; }

std::string words_for(rd_kafka_resp_err_t error) {
    switch (error) {
        case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT: return "Kafka did not acknowledge it in time";
        case RD_KAFKA_RESP_ERR__PURGE_QUEUE: return "the producer was replaced before it was sent";
        case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT: return "it was given up before Kafka acknowledged it";
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART: return "Kafka does not know the topic";
        default: return std::string{"Kafka: "} + ::rd_kafka_err2str(error);
    }
}

}  // namespace

Report judge(rd_kafka_resp_err_t error, rd_kafka_msg_status_t status) {
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR || status == RD_KAFKA_MSG_STATUS_PERSISTED) {
        return {};
    }
    const bool certain = status == RD_KAFKA_MSG_STATUS_NOT_PERSISTED && !may_follow_a_write(error);
    return {certain ? Outcome::NotPersisted : Outcome::Unknown, words_for(error),
            !is_about_the_message(error)};
}

Report judge_refusal(rd_kafka_resp_err_t error, const std::string& words) {
    switch (error) {
        case RD_KAFKA_RESP_ERR__QUEUE_FULL:
            return {Outcome::NotPersisted, "too many messages wait for Kafka", true};
        case RD_KAFKA_RESP_ERR__FATAL:
            return {Outcome::NotPersisted, "the Kafka producer failed, and is about to be replaced", true};
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART: return {Outcome::NotPersisted, words_for(error), true};
        default: return {Outcome::NotPersisted, "Kafka: " + words, !is_about_the_message(error)};
    }
}

}  // namespace sluice::kafka
