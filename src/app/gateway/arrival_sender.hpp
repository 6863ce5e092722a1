#pragma once

#include <atomic>
#include <cstdint>

#include "app/gateway/arrivals.hpp"
#include "app/gateway/recent_ids.hpp"
#include "base/backoff.hpp"
#include "base/log.hpp"
#include "base/repeating.hpp"
#include "base/time.hpp"

namespace sluice {

// What became of the messages that came, since the start.
struct ArrivalCounts {
    std::uint64_t sent = 0;
    std::uint64_t expired = 0;    // Their time was over.
    std::uint64_t doubled = 0;    // Sent before.
    std::uint64_t malformed = 0;  // No messages at all.
    std::uint64_t failed = 0;     // Tries of the outlet that are made again.
};

struct ArrivalSenderOptions {
    std::size_t batch_max = 100;   // Messages that are taken at a time.
    std::size_t ids_max = 65'536;  // Of sent messages, for which no double is sent.
    std::uint64_t seed = 0;        // Of its pauses.
};

// Sends what arrives: each message at least once, and once as long as its id is among those that were sent
// last by this process. A malformed one is logged and skipped, and one that has expired is skipped. While the
// outlet fails nothing is skipped: the same message is tried again and again, and what is behind it waits.
// Only what was sent or skipped is done.
// Thread safety: counts() from anywhere; stop() and the end not within a job of the runtime.
class ArrivalSender {
public:
    // All of it outlives the sender.
    struct World {
        Arrivals& arrivals;
        MessageOutlet& outlet;
        const Clock& clock;
        Log& log;
        Runtime& runtime;
    };
    ArrivalSender(ArrivalSenderOptions options, World world);
    ~ArrivalSender() { stop(); }
    ArrivalSender(const ArrivalSender&) = delete;
    ArrivalSender& operator=(const ArrivalSender&) = delete;

    [[nodiscard]] ArrivalCounts counts() const;

    // Takes nothing more. What was sent or skipped by then is done.
    void stop();

private:
    Repeating::Pause run(const std::stop_token& stop);
    bool settle(const Arrival& arrival);
    bool send(const OutgoingMessage& message);
    void tell_trouble();

    const ArrivalSenderOptions options_;
    const World world_;
    bool listening_ = false;  // The job's, like the next five.
    std::vector<Arrival> taken_;
    std::size_t settled_ = 0;  // How many of them are settled, from the first on.
    RecentIds sent_ids_;
    Backoff backoff_;
    bool in_trouble_ = false;
    // Relaxed, all of them: they guard nothing.
    std::atomic<std::uint64_t> sent_ = 0;
    std::atomic<std::uint64_t> expired_ = 0;
    std::atomic<std::uint64_t> doubled_ = 0;
    std::atomic<std::uint64_t> malformed_ = 0;
    std::atomic<std::uint64_t> failed_ = 0;
    Repeating loop_;  // Last: it uses all the rest.
};

}  // namespace sluice
