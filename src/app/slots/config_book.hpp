#pragma once

#include <map>
#include <vector>

#include "app/slots/config_cache.hpp"
#include "app/slots/slot_store.hpp"
#include "app/slots/slot_tables.hpp"

namespace sluice {

// All config versions and pools of a ledger, and the rules by which a new version is accepted.
// Thread safety: none.
class ConfigBook {
public:
    ConfigBook() = default;
    explicit ConfigBook(const ConfigTables& stored);

    // Null: no such config.
    [[nodiscard]] ConfigRef active(const ConfigName& name) const;
    [[nodiscard]] std::vector<ConfigVersion> all_active() const;                     // By name.
    [[nodiscard]] std::vector<ConfigVersion> history(const ConfigName& name) const;  // Newest first.
    [[nodiscard]] bool knows(ConfigId id) const { return versions_.contains(id); }
    // REQUIRES: knows(id).
    [[nodiscard]] const ConfigVersion& version(ConfigId id) const { return *versions_.at(id); }
    // REQUIRES: a pool that some version names.
    [[nodiscard]] const Pool& pool(const PoolName& name) const { return pools_.at(name); }
    [[nodiscard]] const std::map<PoolName, Pool>& pools() const { return pools_; }
    // Whether a version of any config has cut windows of the pool into cells.
    [[nodiscard]] bool has_cells(const PoolName& pool) const;
    // Null: no config ever named it.
    [[nodiscard]] const Pool* find_pool(const PoolName& name) const;

    // The version that `draft` becomes, and the pool if it is new or cut anew. Changes nothing yet.
    struct Proposal {
        ConfigVersion version;
        std::optional<ConfigVersion> replaced;  // As it is to be stored: no longer active.
        std::optional<Pool> new_pool;
        std::optional<Pool> recut_pool;  // The pool as it was, when its window size changes.
    };
    [[nodiscard]] Result<Proposal, SlotError> propose(const ConfigDraft& draft, Instant now) const;
    void accept(const Proposal& proposal);

private:
    [[nodiscard]] bool others_use(const PoolName& pool, const ConfigName& except) const;
    void keep(const ConfigVersion& version);

    std::map<ConfigId, ConfigRef> versions_;
    std::map<ConfigName, ConfigId> active_;
    std::map<PoolName, Pool> pools_;
    std::uint32_t last_pool_ = 0;
};

}  // namespace sluice
