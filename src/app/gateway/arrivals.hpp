#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/gateway/outbox.hpp"
#include "base/result.hpp"

namespace sluice {

// A message that has come from a topic to be sent.
struct Arrival {
    std::int32_t partition;
    std::int64_t offset;                           // Its place in the partition.
    Result<OutgoingMessage, std::string> message;  // Or what is wrong with it, as one line.
};

// Messages that publishers of this or other processes have handed over. Each comes at least once: those that
// were not done come again, here or in another process.
// Thread safety: one thread at a time.
class Arrivals {
public:
    virtual ~Arrivals() = default;

    // Calls `arrived` whenever something may have come after take() had returned nothing; by any thread. It
    // must not block, nor call back. Empty: no call any more, nor is one under way when this returns.
    virtual void listen(std::function<void()> arrived) = 0;
    // What has come, at most so many, in the order of each partition. Never blocks. Nothing: all was taken.
    // Calls that come too seldom give what is left to others.
    virtual std::vector<Arrival> take(std::size_t most) = 0;
    // They and all before them in their partitions need not come again.
    virtual void done(std::span<const Arrival> arrivals) = 0;
};

}  // namespace sluice
