#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "stream/kafka/access.hpp"
#include "stream/kafka/link_state.hpp"

namespace sluice::kafka {

// A message as it stands on its topic.
struct Record {
    std::int32_t partition = 0;
    std::int64_t offset = 0;
    std::optional<std::string> value{};  // Byte for byte; empty is not the same as absent.
    std::vector<std::pair<std::string, std::string>> headers{};  // In their order.
};

struct ConsumerOptions {
    Access access;
    std::string topic;      // A legal name. It need not exist yet.
    std::string group;      // Its members share the partitions.
    std::string purpose{};  // Whose consumer it is, for the log. Empty: nobody else has one.
    // What is fetched before it is taken.
    std::size_t messages_max = 1'000;
    std::size_t bytes_max = std::size_t{8} << 20;
};

// After so long a group gives the partitions of a member that is not heard of to the others.
inline constexpr Duration kSessionTimeout{6'000};
// So long after done() its place is committed, at the latest, while the broker answers.
inline constexpr Duration kCommitPause{250};

// Reads a topic as a member of a group, from the earliest message that the group has not done. Every message
// comes at least once: again if the process ends before its place was committed, or if another member gets
// the partition meanwhile.
//
// A partition goes to another member only within take() or stop(): so those that were taken can be done
// first. Who does not call take() for five minutes after he was told of messages is taken for dead by the
// group; with the next call he is a member again.
//
// A broker that is away is logged once, as is its return; by itself it goes on from there.
//
// Thread safety: state() from anywhere; the rest by one thread at a time.
class Consumer {
public:
    virtual ~Consumer() = default;  // As stop().

    // Calls `arrived` whenever take() may have something to do after it had returned nothing; by any thread,
    // also when there is no message. It must not block, nor call back. Empty: no call any more, nor is one
    // under way when this returns.
    virtual void listen(std::function<void()> arrived) = 0;

    // What has come, at most so many, in the order of each partition. Never blocks. Nothing: all has been
    // taken that is there.
    virtual std::vector<Record> take(std::size_t most) = 0;

    // They, and all before them in their partitions, need not come again. What belongs to another member by
    // now is left alone.
    virtual void done(std::span<const Record> records) = 0;

    // For readiness. It follows what happens within a second or two, as long as take() is called.
    [[nodiscard]] virtual LinkState state() const = 0;

    // Commits what is done, and leaves the group, so that the others go on at once. Nothing is taken any
    // more. If no broker answers it gives up after kSessionTimeout, or twice that.
    virtual void stop() = 0;
};

// Waits for no broker. Fails with one sentence, in librdkafka's words, on properties that it does not know or
// does not want.
Result<std::unique_ptr<Consumer>, std::string> make_consumer(ConsumerOptions options, ClientWorld world);

}  // namespace sluice::kafka
