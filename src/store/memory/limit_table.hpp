#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "store/memory/key_hash.hpp"
#include "store/memory/limit_entry.hpp"

namespace sluice {

// Entries of one shard in a fixed piece of memory: open addressing, linear probing, no tombstones. Adding
// moves no other entry; erasing may.
// Thread safety: none; its shard has a lock.
class LimitTable {
public:
    LimitTable() = default;
    ~LimitTable();
    LimitTable(const LimitTable&) = delete;
    LimitTable& operator=(const LimitTable&) = delete;

    // Before anything else. `entries` are zero, at least two, and stay the caller's memory.
    void use(std::span<LimitEntry> entries) { entries_ = entries; }

    [[nodiscard]] LimitEntry* find(const EntryName& name) {
        for (std::size_t at = home(name.hash);; at = next(at)) {
            LimitEntry& entry = entries_[at];
            if (entry.is_free()) {
                return nullptr;
            }
            if (entry.hash == name.hash && entry.plan == name.plan && is_of(entry, name.key)) {
                return &entry;
            }
        }
    }

    // The same for one kind of state, with a short key, where the search begins at `home`. Null: search by
    // find(), which also looks on from the table's end at its beginning.
    // REQUIRES: `home` is where home_of says; the key is at most LimitEntry::kShortKeyMax bytes.
    [[nodiscard]] LimitEntry* find_short(LimitEntry* home, const EntryName& name, std::uint8_t kind) {
        const std::uint64_t head = LimitEntry::head_of(name.hash, name.plan, kind, name.key.size() - 1);
        LimitEntry* entry = home;
        do {
            if (entry->head() == head &&
                same_bytes(entry->short_key.data(), name.key.data(), name.key.size())) [[likely]] {
                return entry;
            }
        } while (!entry->is_free() && ++entry != entries_.data() + entries_.size());
        return nullptr;
    }
    // Where the search in a table of so many entries begins.
    static std::size_t home_of(std::uint32_t hash, std::size_t size) {
        return static_cast<std::size_t>(std::uint64_t{hash} * size >> 32U);
    }

    // One place always stays free, so that every search ends.
    [[nodiscard]] bool has_room(std::size_t count) const { return used_ + count < entries_.size(); }
    // With a fresh state. Throws std::bad_alloc, and then has added nothing.
    // REQUIRES: has_room(1), and it is not there yet.
    LimitEntry& add(const EntryName& name, const LimitRule& rule);
    // Says how many bytes of the heap its state took.
    std::size_t erase(LimitEntry& entry);

    struct Sweep {
        std::size_t erased = 0;
        std::size_t heap_bytes = 0;  // That their states took.
        // Of what is left; the largest number when nothing is.
        std::int64_t earliest_idle = std::numeric_limits<std::int64_t>::max();
    };
    // Erases every entry that is idle at `now`.
    Sweep erase_idle(std::int64_t now);

private:
    static bool is_of(const LimitEntry& entry, std::string_view key) {
        return entry.key().size() == key.size() && same_bytes(entry.key().data(), key.data(), key.size());
    }
    [[nodiscard]] std::size_t home(std::uint32_t hash) const { return home_of(hash, entries_.size()); }
    [[nodiscard]] std::size_t next(std::size_t at) const { return at + 1 == entries_.size() ? 0 : at + 1; }

    std::span<LimitEntry> entries_;
    std::size_t used_ = 0;
};

}  // namespace sluice
