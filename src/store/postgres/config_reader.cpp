#include "store/postgres/config_reader.hpp"

#include "store/postgres/slot_rows.hpp"

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
    const std::lock_guard lock{mutex_};
    std::optional<Failure> failure;
    ConfigRef found = cache_.get(name, [&](const ConfigName& wanted) {
        auto loaded = load(pool_, wanted);
        if (!loaded) {
            failure = loaded.error();
            return ConfigRef{};
        }
        return *loaded;
    });
    if (failure) {
        return Unexpected{*failure};
    }
    return found;
}

void ConfigReader::put(const ConfigVersion& version) {
    const std::lock_guard lock{mutex_};
    cache_.put(std::make_shared<const ConfigVersion>(version));
}

void ConfigReader::heed_version(const ConfigName& name, ConfigId newest) {
    const std::lock_guard lock{mutex_};
    cache_.drop_before(name, newest);
}

void ConfigReader::flush() {
    const std::lock_guard lock{mutex_};
    cache_.flush();
}

}  // namespace sluice::postgres
