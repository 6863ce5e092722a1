#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "store/memory/limit_entry.hpp"

namespace sluice {

// Gives each plan name a small number for good; what is told of a plan is that and its rule, as
// EntryName::plan has it. Looking up a plan that was looked up before is one load.
// Thread safety: all of it.
class PlanNumbers {
public:
    using Number = std::uint16_t;
    static constexpr std::size_t kNamesMax = 4'096;

    static_assert(kNamesMax <= kNumberMask + 1);

    // A plain number, because copying an optional one is felt at this speed.
    static constexpr Number kNone = 0xFFFF;

    // kNone when the name is not known.
    [[nodiscard]] Number find(const Plan& plan) const {
        const std::uint64_t recent = recent_of(plan).load(std::memory_order_relaxed);
        return recent >> kNumberBits == plan.id() ? static_cast<Number>(recent) : find_by_name(plan);
    }

    // kNone when kNamesMax others are known. Throws std::bad_alloc.
    Number number_of(const Plan& plan) {
        const Number known = find(plan);
        return known != kNone ? known : add(plan);
    }

private:
    static constexpr unsigned kNumberBits = 16;

    [[gnu::noinline]] Number find_by_name(const Plan& plan) const {
        const std::lock_guard lock{mutex_};
        const auto known = numbers_.find(plan.name());
        if (known == numbers_.end()) {
            return kNone;
        }
        const Number number = with_rule(known->second, plan.rule().index());
        recent_of(plan).store(plan.id() << kNumberBits | number, std::memory_order_relaxed);
        return number;
    }

    Number add(const Plan& plan) {
        const std::lock_guard lock{mutex_};
        if (numbers_.size() == kNamesMax && !numbers_.contains(plan.name())) {
            return kNone;
        }
        const auto known = numbers_.try_emplace(plan.name(), static_cast<Number>(numbers_.size())).first;
        return with_rule(known->second, plan.rule().index());
    }

    [[nodiscard]] std::atomic<std::uint64_t>& recent_of(const Plan& plan) const {
        return recent_[plan.id() % recent_.size()];
    }

    // The identity of a plan and its number, in one word that is right by itself: hence relaxed. Plans that
    // share a place put each other out, and are found by name.
    mutable std::array<std::atomic<std::uint64_t>, 2 * kNamesMax> recent_{};
    mutable std::mutex mutex_;
    std::map<std::string, Number> numbers_;  // Guarded by mutex_.
};

}  // namespace sluice
