#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace sluice {

struct StoreError {
    std::string what;      // What failed, for the log.
    std::string advice{};  // What an operator can do about it, in whole sentences. Empty: nothing special.
};

// What a store may still take.
enum class StoreRoom {
    Enough,
    Scarce,  // No new slots; those that are there may still be given back.
    None,    // Nothing at all: a write could fail half way.
};

// The room on the disk of a store.
struct StoreSpace {
    std::uint64_t free = 0;     // Bytes.
    std::uint64_t reserve = 0;  // What is kept for cancels, and for the store's own housekeeping.
    std::uint64_t owed = 0;     // What rows that are stored already will take yet.

    [[nodiscard]] StoreRoom room() const {
        constexpr std::uint64_t kShareForCancels = 4;
        const std::uint64_t left = free - std::min(free, owed);
        if (left >= reserve) {
            return StoreRoom::Enough;
        }
        return left >= reserve / kShareForCancels ? StoreRoom::Scarce : StoreRoom::None;
    }
};

}  // namespace sluice
