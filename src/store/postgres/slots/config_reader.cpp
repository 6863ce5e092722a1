#include "store/postgres/slots/config_reader.hpp"

#include "store/postgres/slots/slot_rows.hpp"

namespace sluice::postgres {
namespace {

constexpr Statement kActiveConfig{
    "active_config", "select " SLUICE_CONFIG_COLUMNS
                     " from rl_event_wndw_config c where c.wndw_config_nm = $1 and c.act_in = 1"};

Result<ConfigRef, Failure> load(ConnectionSource& pool, const ConfigName& name) {
    const auto lease = pool.take(ConnectionSource::Clock::now() + kConnectionPatience);
    if (!lease) {
        return Unexpected{lease.error()};
    }
    const auto rows = (*lease)->run(kActiveConfig, Parameters{}.add(name.text()));
    if (!rows) {
        return Unexpected{rows.error()};
    }
    const auto version = rows->empty() ? std::nullopt : read_config(*rows, 0);
    return version ? std::make_shared<const ConfigVersion>(*version) : ConfigRef{};
}

}  // namespace

Result<ConfigRef, Failure> ConfigReader::active(const ConfigName& name) {
    std::uint64_t flushes_seen = 0;
    {
        const std::lock_guard lock{mutex_};
        if (ConfigRef found = cache_.find(name)) {
            return found;
        }
        flushes_seen = flushes_;
        ++loads_;
    }
    // Without the lock: a server that is slow must not keep those waiting whose configs are known.
    auto loaded = load(pool_, name);
    const std::lock_guard lock{mutex_};
    if (loaded && flushes_ == flushes_seen && !is_outdated(name, *loaded)) {
        cache_.note_loaded(name, *loaded);
    }
    if (--loads_ == 0) {
        news_.clear();
    }
    return loaded;
}

bool ConfigReader::is_outdated(const ConfigName& name, const ConfigRef& loaded) const {
    const auto newest = news_.find(name);
    return newest != news_.end() && (loaded == nullptr || loaded->id < newest->second);
}

void ConfigReader::put(const ConfigVersion& version) {
    const std::lock_guard lock{mutex_};
    note_newest(version.terms.name, version.id);
    cache_.put(std::make_shared<const ConfigVersion>(version));
}

void ConfigReader::heed_version(const ConfigName& name, ConfigId newest) {
    const std::lock_guard lock{mutex_};
    note_newest(name, newest);
    cache_.drop_before(name, newest);
}

void ConfigReader::note_newest(const ConfigName& name, ConfigId newest) {
    if (loads_ > 0) {
        auto& known = news_.try_emplace(name, newest).first->second;
        known = std::max(known, newest);
    }
}

void ConfigReader::flush() {
    const std::lock_guard lock{mutex_};
    ++flushes_;
    cache_.flush();
}

}  // namespace sluice::postgres
