#pragma once

#include <memory>
#include <string>

#include "base/runtime.hpp"
#include "store/postgres/client/connection_pool.hpp"
#include "store/postgres/client/host_survey.hpp"

namespace sluice::postgres {

// What to do about the schema when a server is first met.
enum class SchemaCare {
    Migrate,  // Make it, or bring it up to date.
    Check,    // Change nothing; refuse one that is not as this program needs it.
};

// What surrounds a server, and outlives it.
struct ServerWorld {
    Log& log;
    PoolMetrics& metrics;
    Runtime& runtime;
};

// One PostgreSQL as this process uses it: its connections, what is known of its lives and hosts, and a schema
// that is as it should be. All stores on the same address share one; it goes with the last of them.
// Thread safety: all of it.
class Server {
public:
    // Connects and sees to the schema, once. Makes up a number for this node, unless the settings name one.
    // What is wrong is said in one sentence, and nothing was created.
    static Result<std::shared_ptr<Server>, std::string> open(PoolSettings settings, SchemaCare care,
                                                             const ServerWorld& world);

    // To be taken from through a ConnectionShare.
    [[nodiscard]] ConnectionPool& pool() { return pool_; }
    [[nodiscard]] const ConnectionPool& pool() const { return pool_; }
    [[nodiscard]] const ConnectSettings& address() const { return settings_.connect; }
    [[nodiscard]] const ServerLives& lives() const { return *settings_.connect.lives; }
    [[nodiscard]] Runtime& runtime() const { return runtime_; }

private:
    Server(PoolSettings settings, const ServerWorld& world);

    const PoolSettings settings_;
    Runtime& runtime_;
    ConnectionPool pool_;
    HostSurvey survey_;
};

}  // namespace sluice::postgres
