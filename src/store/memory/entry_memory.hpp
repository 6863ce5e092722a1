#pragma once

#include <span>

#include "store/memory/limit_table.hpp"

namespace sluice {

// Zeroed room for entries, in large pages where the system has them: a random key then costs one miss, not
// also one for its address. Memory is taken from the system as it is touched.
class EntryMemory {
public:
    // Throws std::bad_alloc.
    explicit EntryMemory(std::size_t entries);
    ~EntryMemory();
    EntryMemory(const EntryMemory&) = delete;
    EntryMemory& operator=(const EntryMemory&) = delete;

    [[nodiscard]] std::span<LimitEntry> entries() const;

private:
    std::size_t count_;
    void* memory_;
};

}  // namespace sluice
