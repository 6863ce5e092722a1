#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "store/memory/limit_entry.hpp"

namespace sluice {

// The overrides of one shard, by the number of the plan and the key. Looking one up allocates nothing.
// Thread safety: none; its shard has a lock.
class OverrideBook {
public:
    struct Instead {
        LimitRule rule;
        Moment until;
    };

    [[nodiscard]] bool empty() const { return known_ == nullptr; }
    // Everywhere: which rule a name is of does not matter.
    [[nodiscard]] bool has(const EntryName& name) const {
        return known_ != nullptr && known_->find(name) != known_->end();
    }
    // Null: there is none, or it has expired.
    [[nodiscard]] const Instead* find(const EntryName& name, Moment now) const {
        if (known_ == nullptr) {
            return nullptr;
        }
        const auto found = known_->find(name);
        return found != known_->end() && now < found->second.until ? &found->second : nullptr;
    }

    // Replaces an earlier one. Throws std::bad_alloc, and then has changed nothing.
    void put(const EntryName& name, const Instead& replacement) {
        auto made = known_ == nullptr ? std::make_unique<Known>() : nullptr;
        Known& known = known_ == nullptr ? *made : *known_;
        known.insert_or_assign(OwnedName{number_of(name.plan), std::string{name.key}}, replacement);
        known_ = made == nullptr ? std::move(known_) : std::move(made);
    }
    // How many there were: 0 or 1.
    std::size_t erase(const EntryName& name) {
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
    static std::uint16_t number_of(std::uint16_t plan) {
        return static_cast<std::uint16_t>(plan & kNumberMask);
    }
    struct OwnedName {
        std::uint16_t plan;
        std::string key;
    };
    struct Before {
        using is_transparent = void;
        template <class One, class Other>
        bool operator()(const One& one, const Other& other) const {
            const auto left = number_of(one.plan);
            const auto right = number_of(other.plan);
            return left != right ? left < right : std::string_view{one.key} < std::string_view{other.key};
        }
    };

    using Known = std::map<OwnedName, Instead, Before>;

    void drop_if_empty() {
        if (known_->empty()) {
            known_.reset();
        }
    }

    std::unique_ptr<Known> known_;  // Null, not empty: a shard has room for a pointer only.
};

}  // namespace sluice
