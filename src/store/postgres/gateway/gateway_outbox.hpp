#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "app/gateway/outbox.hpp"
#include "store/postgres/client/patient_caller.hpp"
#include "store/postgres/client/server_clock.hpp"

namespace sluice::postgres {

// The outbox in PostgreSQL, as the sender of one node has it. What it reads is claimed, and no other node's
// until the claim has run out: a node that is gone leaves nothing behind.
// Thread safety: all of it.
class GatewayOutbox final : public Outbox {
public:
    // `own`: this node's clock. The pool, the log and the clock outlive it.
    GatewayOutbox(ConnectionSource& pool, std::chrono::milliseconds claim, const Clock& own, Log& log);

    Result<std::vector<WaitingMessage>, StoreError> waiting(std::size_t most) override;
    Result<void, StoreError> close(std::span<const OutboxClosing> closings) override;
    // The server's. While it does not answer, what it said last: then nothing can be closed as expired.
    Instant time() override;

private:
    PatientCaller caller_;
    ServerClock clock_;
    const std::chrono::milliseconds claim_;
    const std::string sender_;  // No other is called so.
    std::mutex mutex_;
    Instant last_time_{};  // Guarded by mutex_.
};

}  // namespace sluice::postgres
