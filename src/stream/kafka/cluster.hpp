#pragma once

#include <cstddef>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "stream/kafka/access.hpp"

namespace sluice::kafka {

struct TopicTerms {
    std::string name;
    int partitions = 1;
    int replication = 1;
};

// Makes the topic, unless it is there already, with whatever terms: who may not make topics can use one that
// is there. Blocks, for `timeout` at most. Fails with one sentence.
Result<void, std::string> ensure_topic(const Access& access, const TopicTerms& topic, Duration timeout);

struct ClusterFacts {
    std::size_t brokers;  // That the cluster says it has.
};

// Asks any broker about the cluster. Blocks, for `timeout` at most. Fails with one sentence.
Result<ClusterFacts, std::string> examine_cluster(const Access& access, Duration timeout);

}  // namespace sluice::kafka
