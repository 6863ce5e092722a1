#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/limits/plan.hpp"
#include "store/memory/key_hash.hpp"

namespace sluice {

// Gives each plan name a small number for good. Looking one up takes no lock; a new name takes one.
// Thread safety: all of it.
class PlanNumbers {
public:
    using Number = std::uint16_t;
    static constexpr std::size_t kNamesMax = 4'096;

    // A plain number, because copying an optional one is felt at this speed.
    static constexpr Number kNone = 0xFFFF;

    // kNone when kNamesMax others are known. Throws std::bad_alloc.
    Number number_of(const Plan& plan) {
        const Number known = find(plan);
        return known != kNone ? known : add(plan);
    }

    // kNone when the name is not known.
    [[nodiscard]] Number find(const Plan& plan) const {
        std::size_t at = plan.name_hash() % slots_.size();
        while (const Known* known = slots_[at].load(std::memory_order_acquire)) {
            if (known->is(plan)) {
                return known->number;
            }
            at = (at + 1) % slots_.size();
        }
        return kNone;
    }

private:
    struct Known {
        std::string name;
        std::uint64_t hash;
        Number number;

        [[nodiscard]] bool is(const Plan& plan) const {
            return hash == plan.name_hash() && name.size() == plan.name().size() &&
                   same_bytes(name.data(), plan.name().data(), name.size());
        }
    };

    Number add(const Plan& plan) {
        const std::lock_guard lock{mutex_};
        if (const Number known = find(plan); known != kNone) {
            return known;  // Another thread was faster.
        }
        if (names_.size() == kNamesMax) {
            return kNone;
        }
        const auto number = static_cast<Number>(names_.size());
        names_.push_back(std::make_unique<Known>(Known{plan.name(), plan.name_hash(), number}));
        std::size_t at = plan.name_hash() % slots_.size();
        while (slots_[at].load(std::memory_order_relaxed) != nullptr) {  // Only who holds the lock stores.
            at = (at + 1) % slots_.size();
        }
        // Release pairs with the acquire of find(): who sees the pointer sees the name.
        slots_[at].store(names_.back().get(), std::memory_order_release);
        return names_.back()->number;
    }

    std::array<std::atomic<const Known*>, 2 * kNamesMax> slots_{};
    std::mutex mutex_;
    std::vector<std::unique_ptr<Known>> names_;  // Guarded by mutex_.
};

}  // namespace sluice
