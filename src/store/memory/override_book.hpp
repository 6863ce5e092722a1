#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "app/limits/limit_store.hpp"

namespace sluice {

// The overrides of one shard, by the number of the plan and the key. Looking one up allocates nothing.
// Thread safety: none; its shard has a lock.
class OverrideBook {
public:
    struct Name {
        std::uint16_t plan;
        std::string_view key;
    };

    [[nodiscard]] bool empty() const { return known_.empty(); }
    [[nodiscard]] bool has(const Name& name) const { return known_.find(name) != known_.end(); }
    // Null: there is none, or it has expired.
    [[nodiscard]] const LimitRule* find(const Name& name, Moment now) const {
        const auto found = known_.find(name);
        return found != known_.end() && now < found->second.until ? &found->second.rule : nullptr;
    }

    // Replaces an earlier one.
    void put(const Name& name, const LimitOverride& replacement) {
        known_.insert_or_assign(OwnedName{name.plan, std::string{name.key}}, replacement);
    }
    // How many there were: 0 or 1.
    std::size_t erase(const Name& name) {
        const auto found = known_.find(name);
        if (found == known_.end()) {
            return 0;
        }
        known_.erase(found);
        return 1;
    }
    // How many have expired.
    std::size_t erase_expired(Moment now) {
        return std::erase_if(known_, [now](const auto& each) { return each.second.until <= now; });
    }

private:
    struct OwnedName {
        std::uint16_t plan;
        std::string key;
    };
    struct Before {
        using is_transparent = void;
        template <class One, class Other>
        bool operator()(const One& one, const Other& other) const {
            return one.plan != other.plan ? one.plan < other.plan
                                          : std::string_view{one.key} < std::string_view{other.key};
        }
    };

    std::map<OwnedName, LimitOverride, Before> known_;
};

}  // namespace sluice
