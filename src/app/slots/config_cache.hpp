#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "app/slots/slot_observer.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "core/slots/slot.hpp"

namespace sluice {

using ConfigRef = std::shared_ptr<const ConfigVersion>;

// The active version of each config, read again when it is older than the time to live.
// Thread safety: none; its owner guards it.
class ConfigCache {
public:
    // Null: no such config.
    using Load = std::function<ConfigRef(const ConfigName&)>;

    ConfigCache(Duration time_to_live, const Clock& clock, SlotMetrics& metrics, Log& log)
        : time_to_live_{time_to_live}, clock_{clock}, metrics_{metrics}, log_{log} {}

    ConfigRef get(const ConfigName& name, const Load& load) {
        ConfigRef config = find(name);
        if (config == nullptr) {
            config = load(name);
            note_loaded(name, config);
        }
        return config;
    }

    // Null: it has to be loaded, and note_loaded() to be told. For those who must not keep others from the
    // cache while they load.
    ConfigRef find(const ConfigName& name) {
        const Instant now = clock_.now();
        const auto found = entries_.find(name);
        // A clock that steps back must not keep an entry alive: its age is then negative, and it is read
        // again.
        if (found != entries_.end() && now >= found->second.loaded &&
            now - found->second.loaded < time_to_live_) {
            metrics_.config_cache_hit();
            return found->second.config;
        }
        metrics_.config_cache_miss();
        return nullptr;
    }
    void note_loaded(const ConfigName& name, const ConfigRef& config) {
        if (config == nullptr) {
            entries_.erase(name);
            return;
        }
        log_.write(LogLevel::Info, "RateLimitConfigRepository",
                   "Config cache miss for " + name.text() + ", loaded from DB");
        put(config);
    }

    void put(const ConfigRef& config) {
        entries_.insert_or_assign(config->terms.name, Entry{config, clock_.now()});
    }
    // Forgets a version that is older than `newest`.
    void drop_before(const ConfigName& name, ConfigId newest) {
        const auto found = entries_.find(name);
        if (found != entries_.end() && found->second.config->id < newest) {
            entries_.erase(found);
        }
    }
    void flush() { entries_.clear(); }

private:
    struct Entry {
        ConfigRef config;
        Instant loaded;
    };

    const Duration time_to_live_;
    const Clock& clock_;
    SlotMetrics& metrics_;
    Log& log_;
    std::map<ConfigName, Entry> entries_;  // Only configs that exist: callers cannot make it grow.
};

}  // namespace sluice
