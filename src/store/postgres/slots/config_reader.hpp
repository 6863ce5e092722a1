#pragma once

#include <map>
#include <mutex>

#include "app/slots/config_cache.hpp"
#include "store/postgres/client/connection_pool.hpp"

namespace sluice::postgres {

// The active versions of configs, as this node has seen them within the cache's time to live.
// Thread safety: all of it.
class ConfigReader {
public:
    ConfigReader(ConnectionSource& pool, ConfigCache cache) : pool_{pool}, cache_{std::move(cache)} {}

    // Null: no such config.
    Result<ConfigRef, Failure> active(const ConfigName& name);
    void put(const ConfigVersion& version);
    // There is a newer version of a config than this one, or this one is the newest.
    void heed_version(const ConfigName& name, ConfigId newest);
    void flush();

private:
    void note_newest(const ConfigName& name, ConfigId newest);  // With mutex_ held.
    [[nodiscard]] bool is_outdated(const ConfigName& name, const ConfigRef& loaded) const;  // Likewise.

    ConnectionSource& pool_;
    std::mutex mutex_;  // Never held while the server is asked. Guards all that follows.
    ConfigCache cache_;
    std::uint64_t flushes_ = 0;            // What was loaded before the latest one may be old.
    std::size_t loads_ = 0;                // How many are under way.
    std::map<ConfigName, ConfigId> news_;  // The newest versions that were heard of since some load began.
};

}  // namespace sluice::postgres
