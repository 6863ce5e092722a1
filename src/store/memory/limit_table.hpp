#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "core/limits/plan.hpp"
#include "store/memory/key_hash.hpp"

namespace sluice {

// What is remembered of one key under one plan: one cache line, so that a check touches one.
struct alignas(64) LimitEntry {
    static constexpr std::size_t kShortKeyMax = 24;

    std::uint32_t hash;
    std::uint16_t plan;
    std::uint8_t kind;     // 0: the entry is free. Otherwise 1 + the index of the rule whose state it holds.
    std::uint8_t last;     // The length of the key, less one.
    std::int64_t idle_at;  // From then on it is as good as none.
    std::array<std::int64_t, 3> words;  // The rule's state, or where it is.
    union {
        std::array<char, kShortKeyMax> short_key;
        char* long_key;  // Owned.
    };

    [[nodiscard]] bool is_free() const { return kind == 0; }
    [[nodiscard]] std::string_view key() const {
        const std::size_t length = std::size_t{last} + 1;
        return {length <= kShortKeyMax ? short_key.data() : long_key, length};
    }
};
static_assert(sizeof(LimitEntry) == 64 && std::is_trivially_copyable_v<LimitEntry>);

// The state of a rule as an entry holds it: numbers in place, logs on the heap.
template <class Rule>
class StateIn {
public:
    using State = typename Rule::State;
    static constexpr bool kInPlace = std::is_trivially_copyable_v<State>;
    static_assert(!kInPlace || sizeof(State) <= sizeof(LimitEntry::words));

    static void begin(LimitEntry& entry, const Rule& rule) {
        if constexpr (kInPlace) {
            write(entry, rule.fresh());
        } else {
            auto* state = new State{rule.fresh()};
            std::memcpy(entry.words.data(), &state, sizeof(void*));
        }
    }
    // A copy of numbers, a reference to a log.
    static decltype(auto) read(const LimitEntry& entry) {
        if constexpr (kInPlace) {
            State state{};
            std::memcpy(static_cast<void*>(&state), entry.words.data(), sizeof(state));
            return state;
        } else {
            return static_cast<State&>(*log(entry));
        }
    }
    // So that the next charge needs no memory. Throws std::bad_alloc, and then has changed nothing.
    static void make_room([[maybe_unused]] LimitEntry& entry) {
        if constexpr (!kInPlace) {
            State& state = *log(entry);
            if (state.size() == state.capacity()) {
                state.reserve(2 * state.size() + 1);
            }
        }
    }
    static void write(LimitEntry& entry, const State& state) {
        if constexpr (kInPlace) {
            std::memcpy(entry.words.data(), &state, sizeof(state));
        }
    }
    static void end(LimitEntry& entry) {
        if constexpr (!kInPlace) {
            delete log(entry);
        }
    }

private:
    static State* log(const LimitEntry& entry) {
        State* state = nullptr;
        std::memcpy(&state, entry.words.data(), sizeof(void*));
        return state;
    }
};

// Whose state an entry holds.
struct EntryName {
    std::string_view key;
    std::uint16_t plan;  // With kOverriding: the plan's override.
    std::uint32_t hash;  // Of both.

    bool operator==(const EntryName&) const = default;
};

// Plans have less than half of the numbers; the others stand for their overrides.
inline constexpr std::uint16_t kOverriding = 0x8000;

inline std::uint32_t salt_of(std::uint16_t plan) { return plan * 0x9E3779B1U; }

inline EntryName named(std::string_view key, std::uint16_t plan, std::uint64_t hash) {
    return {key, plan, static_cast<std::uint32_t>(hash) ^ salt_of(plan)};
}

// The same key under another plan.
inline EntryName renamed(const EntryName& name, std::uint16_t plan) {
    return {name.key, plan, name.hash ^ salt_of(name.plan) ^ salt_of(plan)};
}
inline EntryName overriding(const EntryName& name) {
    return renamed(name, static_cast<std::uint16_t>(name.plan | kOverriding));
}
inline EntryName own(const EntryName& name) {
    return renamed(name, static_cast<std::uint16_t>(name.plan & ~kOverriding));
}

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
    [[nodiscard]] const LimitEntry* address_of(std::uint32_t hash) const { return &entries_[home(hash)]; }

    // One place always stays free, so that every search ends.
    [[nodiscard]] bool has_room(std::size_t count) const { return used_ + count < entries_.size(); }
    // With a fresh state. Throws std::bad_alloc, and then has added nothing.
    // REQUIRES: has_room(1), and it is not there yet.
    LimitEntry& add(const EntryName& name, const LimitRule& rule);
    // Begins anew where the state is that of another kind of rule: the plan has changed. Throws
    // std::bad_alloc, and then has changed nothing.
    static void adopt(LimitEntry& entry, const LimitRule& rule) {
        if (entry.kind != rule.index() + 1) {
            restart(entry, rule);
        }
    }
    void erase(LimitEntry& entry);

    struct Sweep {
        std::size_t erased = 0;
        std::int64_t earliest_idle = 0;  // Of what is left; the largest number when nothing is.
    };
    // Erases every entry that is idle at `now`.
    Sweep erase_idle(std::int64_t now);

private:
    static bool is_of(const LimitEntry& entry, std::string_view key) {
        return entry.key().size() == key.size() && same_bytes(entry.key().data(), key.data(), key.size());
    }
    [[nodiscard]] std::size_t home(std::uint32_t hash) const {
        return static_cast<std::size_t>(std::uint64_t{hash} * entries_.size() >> 32U);
    }
    [[nodiscard]] std::size_t next(std::size_t at) const { return at + 1 == entries_.size() ? 0 : at + 1; }
    static void restart(LimitEntry& entry, const LimitRule& rule);

    std::span<LimitEntry> entries_;
    std::size_t used_ = 0;
};

}  // namespace sluice
