#include "app/slots/config_book.hpp"

#include <algorithm>

#include "app/slots/slot_errors.hpp"

namespace sluice {

ConfigBook::ConfigBook(const ConfigTables& stored) {
    for (const ConfigVersion& version : stored.configs) {
        keep(version);
    }
    for (const Pool& pool : stored.pools) {
        pools_.insert_or_assign(pool.name, pool);
        last_pool_ = std::max(last_pool_, static_cast<std::uint32_t>(pool.id));
    }
}

ConfigRef ConfigBook::active(const ConfigName& name) const {
    const auto found = active_.find(name);
    return found == active_.end() ? nullptr : versions_.at(found->second);
}

std::vector<ConfigVersion> ConfigBook::all_active() const {
    std::vector<ConfigVersion> result;
    for (const auto& [name, id] : active_) {
        result.push_back(*versions_.at(id));
    }
    return result;
}

std::vector<ConfigVersion> ConfigBook::history(const ConfigName& name) const {
    std::vector<ConfigVersion> result;
    for (const auto& [id, version] : versions_) {
        if (version->terms.name == name) {
            result.push_back(*version);
        }
    }
    std::reverse(result.begin(), result.end());
    return result;
}

bool ConfigBook::has_cells(const PoolName& pool) const {
    return std::ranges::any_of(versions_, [&](const auto& entry) {
        return entry.second->terms.pool == pool && entry.second->terms.spread == Spread::Stratified;
    });
}

const Pool* ConfigBook::find_pool(const PoolName& name) const {
    const auto found = pools_.find(name);
    return found == pools_.end() ? nullptr : &found->second;
}

Result<ConfigBook::Proposal, SlotError> ConfigBook::propose(const ConfigDraft& draft, Instant now) const {
    const auto newest = versions_.empty() ? 0 : static_cast<std::uint32_t>(versions_.rbegin()->first);
    Proposal proposal{ConfigVersion{ConfigId{newest + 1}, draft, now, true}, {}, {}, {}};
    if (const ConfigRef current = active(draft.name)) {
        proposal.replaced = *current;
        proposal.replaced->active = false;
    }
    const Pool* pool = find_pool(draft.pool);
    if (pool != nullptr && pool->window_size == draft.window_size) {
        return proposal;
    }
    proposal.new_pool = Pool{PoolId{last_pool_ + 1}, draft.pool, draft.window_size};
    if (pool == nullptr) {
        return proposal;
    }
    if (others_use(draft.pool, draft.name)) {
        return Unexpected{pool_has_other_size(draft.pool, pool->window_size)};
    }
    proposal.recut_pool = *pool;
    return proposal;
}

void ConfigBook::accept(const Proposal& proposal) {
    if (proposal.replaced) {
        keep(*proposal.replaced);
    }
    keep(proposal.version);
    if (proposal.new_pool) {
        pools_.insert_or_assign(proposal.new_pool->name, *proposal.new_pool);
        last_pool_ = static_cast<std::uint32_t>(proposal.new_pool->id);
    }
}

bool ConfigBook::others_use(const PoolName& pool, const ConfigName& except) const {
    return std::any_of(active_.begin(), active_.end(), [&](const auto& entry) {
        return entry.first != except && versions_.at(entry.second)->terms.pool == pool;
    });
}

void ConfigBook::keep(const ConfigVersion& version) {
    versions_.insert_or_assign(version.id, std::make_shared<const ConfigVersion>(version));
    if (version.active) {
        active_.insert_or_assign(version.terms.name, version.id);
    }
}

}  // namespace sluice
