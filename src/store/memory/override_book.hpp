#pragma once

#include <cstdint>
#include <map>
#include <memory>
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

    [[nodiscard]] bool empty() const { return known_ == nullptr; }
    [[nodiscard]] bool has(const Name& name) const {
        return known_ != nullptr && known_->find(name) != known_->end();
    }
    // Null: there is none, or it has expired.
    [[nodiscard]] const LimitRule* find(const Name& name, Moment now) const {
        if (known_ == nullptr) {
            return nullptr;
        }
        const auto found = known_->find(name);
        return found != known_->end() && now < found->second.until ? &found->second.rule : nullptr;
    }

    // Replaces an earlier one. Throws std::bad_alloc, and then has changed nothing.
    void put(const Name& name, const LimitOverride& replacement) {
        auto made = known_ == nullptr ? std::make_unique<Known>() : nullptr;
        Known& known = known_ == nullptr ? *made : *known_;
        known.insert_or_assign(OwnedName{name.plan, std::string{name.key}}, replacement);
        known_ = made == nullptr ? std::move(known_) : std::move(made);
    }
    // How many there were: 0 or 1.
    std::size_t erase(const Name& name) {
        if (!has(name)) {
            return 0;
        }
        known_->erase(known_->find(name));
        drop_if_empty();
        return 1;
    }
    // How many have expired.
    std::size_t erase_expired(Moment now) {
        if (known_ == nullptr) {
            return 0;
        }
        const auto erased =
            std::erase_if(*known_, [now](const auto& each) { return each.second.until <= now; });
        drop_if_empty();
        return erased;
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

    using Known = std::map<OwnedName, LimitOverride, Before>;

    void drop_if_empty() {
        if (known_->empty()) {
            known_.reset();
        }
    }

    std::unique_ptr<Known> known_;  // Null, not empty: a shard has room for a pointer only.
};

}  // namespace sluice
