#pragma once

#include <memory>

#include "app/gateway/gateway_store.hpp"
#include "base/log.hpp"
#include "store/postgres/client/server.hpp"

namespace sluice {

struct PostgresGatewayOptions {
    std::size_t batch_max = 256;  // Messages of one transaction.
    // How long to wait for a row that another transaction holds, before its user is Unavailable.
    std::chrono::milliseconds row_wait{250};
    // How long what a sender has read of the outbox is its own; then another node's sender may send it.
    // Longer than it takes to send that.
    std::chrono::milliseconds claim{30'000};
};

// What surrounds the store, and outlives it.
struct PostgresGatewayWorld {
    const Clock& clock;  // This node's own: it decides nothing.
    Log& log;
};

// The gateway on a PostgreSQL that any number of nodes share, in table "PostgresEntity" of the connection's
// first schema and in schema sluice. The server's clock decides. What was granted is durable when the answer
// is there.
//
// A batch is one call of sluice.reserve_messages, in a transaction of its own. Users whose rows another
// transaction holds for longer than row_wait are Unavailable, alone: the batch is then decided without them.
// What is older than the port promises is removed in the background. Several nodes' senders share the outbox:
// each has for a while what it has read, so that a message is sent at least once.
//
// Waits for the first connection. What is wrong, with the table too, is said in one sentence.
Result<std::unique_ptr<GatewayStore>, std::string> open_postgres_gateway_store(
    std::shared_ptr<postgres::Server> server, const PostgresGatewayOptions& options,
    PostgresGatewayWorld world);

}  // namespace sluice
