#pragma once

#include <memory>

#include "app/limits/limit_store.hpp"
#include "app/limits/plan_shelf.hpp"
#include "app/server_watch.hpp"
#include "base/log.hpp"
#include "store/postgres/client/server.hpp"

namespace sluice {

struct PostgresLimitOptions {
    std::size_t batch_max = 256;  // Checks of one transaction.
    // How long to wait for a key that another transaction holds, before it is Contended.
    std::chrono::milliseconds key_wait{100};
    // How long to wait for a connection of the pool.
    std::chrono::milliseconds connection_wait{1000};
    // How long those wait who ask the store, and who hears of it when the server does not answer, for as long
    // as the store lives: see ServerWatch.
    std::chrono::milliseconds patience{50};
    ServerObserver* observer = nullptr;
};

// Limits on a PostgreSQL that any number of nodes and applications share. Its clock decides. What was charged
// is durable when the answer is there.
//
// A batch is one call of sluice.take_limits, in a transaction of its own. A key that another transaction
// holds for longer than key_wait is Contended, alone: the batch is then decided without it. While the store's
// ServerWatch calls the server down, everything is Unavailable at once.
class PostgresLimitStore : public LimitStore, public PlanShelf {
public:
    // Makes these the plans that sluice.allow knows; others are removed from it. False: the store did not
    // answer.
    virtual bool publish_plans(std::span<const Plan* const> plans) = 0;
};

// Waits for the first connection. What is wrong is said in one sentence. `log` must outlive the store.
Result<std::unique_ptr<PostgresLimitStore>, std::string> open_postgres_limit_store(
    std::shared_ptr<postgres::Server> server, const PostgresLimitOptions& options, Log& log);

}  // namespace sluice
