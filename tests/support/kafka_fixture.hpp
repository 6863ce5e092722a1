#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::test {

// What tools/services has started: `SLUICE_TEST_KAFKA`; empty if it has not.
std::string kafka_address();

// Ends the test as skipped, which CI forbids.
#define SLUICE_NEEDS_KAFKA()                                                                      \
    if (::sluice::test::kafka_address().empty()) {                                                \
        GTEST_SKIP() << "SLUICE_TEST_KAFKA is not set; tools/services starts what it stands for"; \
    }

// A name that no other test has, in this run or another.
std::string fresh_topic(const std::string& beginning);

struct ReceivedMessage {
    std::optional<std::string> key;
    std::optional<std::string> value;
    std::vector<std::pair<std::string, std::string>> headers;
    int partition;
};

// All that is on a topic, partition by partition; throws if it cannot be read.
std::vector<ReceivedMessage> read_topic(const std::string& topic);
// How many partitions it has.
int partitions_of(const std::string& topic);

// The broker itself, for tests that run alone: others use it too. In the end it is up again.
class KafkaServer {
public:
    KafkaServer() = default;
    ~KafkaServer();
    KafkaServer(const KafkaServer&) = delete;
    KafkaServer& operator=(const KafkaServer&) = delete;

    void freeze();
    void thaw();
    void kill();
    void revive();

private:
    void signal(int number);

    bool frozen_ = false;
    bool killed_ = false;
};

}  // namespace sluice::test
