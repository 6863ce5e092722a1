#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "app/gateway/gateway_observer.hpp"
#include "app/gateway/outbox.hpp"
#include "base/backoff.hpp"
#include "base/log.hpp"
#include "base/repeating.hpp"

namespace sluice {

// What surrounds a sender. All of it outlives the sender.
struct OutboxSenderWorld {
    Outbox& outbox;
    MessageOutlet& outlet;
    GatewayMetrics& metrics;
    Log& log;
    Runtime& runtime;
    // How often to look for what nobody here was told of: other nodes share the outbox, and may be gone.
    // Absent: nobody does.
    std::optional<std::chrono::milliseconds> look_every{};
};

// Sends what waits in the outbox, the oldest first, and closes it when it has left: a kill between the two
// sends it again, under the same id. What is older than its validity is not sent. What could not be closed is
// closed later, and not sent again by this process. While nothing waits it rests, but for its looks.
// Thread safety: nudge() from any thread; stop() and the end from any but the outlet's.
class OutboxSender {
public:
    static constexpr std::size_t kBatch = 256;

    // Begins at once with what was left waiting.
    OutboxSender(OutboxSenderWorld world, std::uint64_t seed);
    ~OutboxSender() { stop(); }
    OutboxSender(const OutboxSender&) = delete;
    OutboxSender& operator=(const OutboxSender&) = delete;

    // Something waits.
    void nudge() { job_.nudge(); }
    // No message is begun any more, and none is under way when this returns.
    void stop();

private:
    Repeating::Pause run(const std::stop_token& stop);
    // Sends some of what waits. False: something failed, and is to be tried later.
    bool send_some(const std::stop_token& stop, std::size_t& found);
    bool send(const WaitingMessage& waiting);
    // Closes all that has left. False: it failed.
    bool close();
    void look();

    const OutboxSenderWorld world_;
    Backoff backoff_;
    std::vector<OutboxClosing> left_;  // Not closed yet.
    Repeating job_;                    // It uses all above.
    const std::unique_ptr<Timer> looks_;
};

}  // namespace sluice
