#pragma once

#include "app/limits/limit_servers.hpp"
#include "base/runtime.hpp"
#include "store/postgres/client/connection_pool.hpp"

namespace sluice {

class SilentLog final : public Log {
public:
    [[nodiscard]] bool enabled(LogLevel /*level*/) const override { return false; }
    void write(LogLevel /*level*/, std::string_view /*component*/, std::string_view /*message*/) override {}
};

class SilentLimitMetrics final : public LimitMetrics {
public:
    void decided(const LimitAnswer& /*answer*/) override {}
    void store_failed(StoreFailure /*failure*/) override {}
    void store_called(std::size_t /*checks*/, std::chrono::nanoseconds /*duration*/) override {}
    void store_spared(StoreSpared /*by*/) override {}
    void server_changed(ServerState /*state*/) override {}
};

class SilentPoolMetrics final : public postgres::PoolMetrics {
public:
    void waited(std::chrono::nanoseconds /*duration*/) override {}
};

// A library has no log and no metrics of its own: what its parts say goes nowhere.
struct SilentWorld {
    SilentLog log;
    SilentLimitMetrics limits;
    SilentPoolMetrics pool;
    LimitServers servers{log, limits};
    const std::unique_ptr<Runtime> runtime = make_machine_runtime();
};

}  // namespace sluice
