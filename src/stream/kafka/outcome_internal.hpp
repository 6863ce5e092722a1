#pragma once

#include <librdkafka/rdkafka.h>

#include "stream/kafka/report.hpp"

namespace sluice::kafka {

// What a delivery report of librdkafka says.
Report judge(rd_kafka_resp_err_t error, rd_kafka_msg_status_t status);

// Of a message that librdkafka did not take: it left no trace.
Report judge_refusal(rd_kafka_resp_err_t error, const std::string& words);

}  // namespace sluice::kafka
