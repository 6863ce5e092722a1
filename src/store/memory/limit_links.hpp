#pragma once

#include <algorithm>
#include <array>
#include <functional>

#include "app/limits/limit_store.hpp"
#include "store/memory/entry_rules.hpp"
#include "store/memory/limit_shard.hpp"

// What a check asks of the entries of the store, plan by plan.
namespace sluice {

// A key under one plan, with what is needed to decide it.
struct Link {
    const Plan* plan;
    Tokens cost;
    LimitShard* shard;
    EntryName name;         // The plan's own, or an override's.
    const LimitRule* rule;  // Likewise.
    LimitEntry* entry;      // Null: nothing is known.
    Moment until;           // Of an override: when it ends.

    [[nodiscard]] bool is_overridden() const { return (name.plan & kOverriding) != 0; }
    [[nodiscard]] Ask ask(Moment now, LeaseId lease = {}) const { return {now, cost, lease}; }
    // Whether an entry must be made before this can be charged. A peek needs none.
    [[nodiscard]] bool needs_entry() const { return entry == nullptr && cost > 0; }
    [[nodiscard]] Standing look(Moment now) const {
        Standing standing = look_at(entry, *rule, ask(now));
        if (is_overridden() && !standing.allowed) [[unlikely]] {
            standing.retry_after = first_pass(now) - now;
        }
        return standing;
    }
    // REQUIRES: it is overridden, and the lock of the shard.
    [[nodiscard]] Moment first_pass(Moment at) const {
        const LimitRule& plain = plan->rule();
        return passes_across_end(
            at, until, [&](Moment from) { return passes_by(entry, *rule, ask(from), from); },
            [&](Moment from) {
                return passes_by(shard->table.find(own(name, plain.index())), plain, ask(from), from);
            });
    }
};

// The links of one check, or of several that are decided together, without allocating.
struct Links {
    std::array<Link, kPlansPerCheckMax> items;
    std::size_t count = 0;

    [[nodiscard]] Link* begin() { return items.data(); }
    [[nodiscard]] Link* end() { return items.data() + count; }
    [[nodiscard]] const Link* begin() const { return items.data(); }
    [[nodiscard]] const Link* end() const { return items.data() + count; }
};

// Holds the locks of all shards of some links, each once. Everyone who takes more than one takes them in the
// order of their addresses, so that no two can wait for each other.
class LinkLocks {
public:
    explicit LinkLocks(const Links& links) {
        const auto behind = std::transform(links.begin(), links.end(), shards_.begin(),
                                           [](const Link& link) { return link.shard; });
        std::sort(shards_.begin(), behind, std::less<>{});
        end_ = std::unique(shards_.begin(), behind);
        std::for_each(shards_.begin(), end_, [](LimitShard* shard) { shard->lock.lock(); });
    }
    ~LinkLocks() {
        std::for_each(shards_.begin(), end_, [](LimitShard* shard) { shard->lock.unlock(); });
    }
    LinkLocks(const LinkLocks&) = delete;
    LinkLocks& operator=(const LinkLocks&) = delete;

private:
    using Shards = std::array<LimitShard*, kPlansPerCheckMax>;

    Shards shards_{};
    Shards::iterator end_;  // Of those that are locked.
};

inline bool has_link(const Links& links, const EntryName& name) {
    return std::any_of(links.begin(), links.end(),
                       [&](const Link& link) { return same_plan(link.name, name); });
}

// Looks for overrides and entries; what an earlier call found is found anew.
// REQUIRES: the locks of the links.
inline void find_links(Links& links, Moment now) {
    for (Link& link : links) {
        link.rule = &link.plan->rule();
        link.name = own(link.name, link.rule->index());
        if (!link.shard->overrides.empty()) [[unlikely]] {
            if (const auto* instead = link.shard->overrides.find(link.name, now)) {
                link.rule = &instead->rule;
                link.until = instead->until;
                link.name = overriding(link.name, link.rule->index());
            }
        }
        link.entry = link.shard->table.find(link.name);
    }
}

// Whether none costs more than its rule could ever allow. REQUIRES: find_links.
inline bool are_affordable(const Links& links) {
    return std::all_of(links.begin(), links.end(), [](const Link& link) {
        return link.cost <= std::visit([](const auto& rule) { return rule.limit(); }, *link.rule);
    });
}

}  // namespace sluice
