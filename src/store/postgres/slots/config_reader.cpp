#include "store/postgres/slots/config_reader.hpp"

#include "store/postgres/slots/slot_rows.hpp"

namespace sluice::postgres {
namespace {

constexpr Statement kActiveConfig{
    "active_config", "select " SLUICE_CONFIG_COLUMNS
                     " from rl_event_wndw_config c where c.wndw_config_nm = $1 and c.act_in = 1"};

Result<ConfigRef, Failure> load(ConnectionPool& pool, const ConfigName& name) {
    const auto lease = pool.take(ConnectionPool::Clock::now() + kConnectionPatience);
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
    std::uint64_t changes_seen = 0;
    {
        const std::lock_guard lock{mutex_};
        if (ConfigRef found = cache_.find(name)) {
            return found;
        }
        changes_seen = changes_;
    }
    // Without the lock: a server that is slow must not keep those waiting whose configs are known.
    auto loaded = load(pool_, name);
    if (!loaded) {
        return Unexpected{loaded.error()};
    }
    const std::lock_guard lock{mutex_};
    if (changes_ == changes_seen) {
        cache_.note_loaded(name, *loaded);
    }
    return *loaded;
}

void ConfigReader::put(const ConfigVersion& version) {
    const std::lock_guard lock{mutex_};
    ++changes_;
    cache_.put(std::make_shared<const ConfigVersion>(version));
}

void ConfigReader::heed_version(const ConfigName& name, ConfigId newest) {
    const std::lock_guard lock{mutex_};
    ++changes_;
    cache_.drop_before(name, newest);
}

void ConfigReader::flush() {
    const std::lock_guard lock{mutex_};
    ++changes_;
    cache_.flush();
}

}  // namespace sluice::postgres
