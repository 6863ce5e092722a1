#pragma once

#include <mutex>

#include "app/slots/config_cache.hpp"
#include "store/postgres/client/connection_pool.hpp"

namespace sluice::postgres {

// The active versions of configs, as this node has seen them within the cache's time to live.
// Thread safety: all of it.
class ConfigReader {
public:
    ConfigReader(ConnectionPool& pool, ConfigCache cache) : pool_{pool}, cache_{std::move(cache)} {}

    // Null: no such config.
    Result<ConfigRef, Failure> active(const ConfigName& name);
    void put(const ConfigVersion& version);
    // There is a newer version of a config than this one, or this one is the newest.
    void heed_version(const ConfigName& name, ConfigId newest);
    void flush();

private:
    ConnectionPool& pool_;
    std::mutex mutex_;           // Never held while the server is asked.
    ConfigCache cache_;          // Guarded by mutex_.
    std::uint64_t changes_ = 0;  // Guarded by mutex_. What was loaded before the latest one may be old.
};

}  // namespace sluice::postgres
