#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <variant>

#include "core/limits/plan.hpp"

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
    // All that tells entries apart but the key itself, as one number.
    [[nodiscard]] std::uint64_t head() const {
        std::uint64_t result = 0;
        std::memcpy(&result, this, sizeof(result));
        return result;
    }
    // The same, reckoned: to write the parts and read the whole would make the processor wait.
    static std::uint64_t head_of(std::uint64_t hash, std::uint64_t plan, std::uint64_t kind,
                                 std::uint64_t last) {
        return std::endian::native == std::endian::little ? hash | plan << 32U | kind << 48U | last << 56U
                                                          : hash << 32U | plan << 16U | kind << 8U | last;
    }
    [[nodiscard]] std::string_view key() const {
        const std::size_t length = std::size_t{last} + 1;
        return {length <= kShortKeyMax ? short_key.data() : long_key, length};
    }
};
static_assert(offsetof(LimitEntry, idle_at) == sizeof(std::uint64_t));  // head() is what lies before.
static_assert(sizeof(LimitEntry) == 64 && std::is_trivially_copyable_v<LimitEntry>);

// What an entry holds that is of this rule.
template <class Rule, std::size_t Index = 0>
constexpr std::uint8_t kind_of() {
    if constexpr (std::is_same_v<Rule, std::variant_alternative_t<Index, LimitRule>>) {
        return static_cast<std::uint8_t>(Index + 1);
    } else {
        return kind_of<Rule, Index + 1>();
    }
}

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
    // Bytes of the heap that the state takes, and that it would take beyond that once make_room() was called.
    static std::size_t heap_bytes([[maybe_unused]] const LimitEntry& entry) {
        if constexpr (kInPlace) {
            return 0;
        } else {
            return sizeof(State) + log(entry)->capacity() * sizeof(typename State::value_type);
        }
    }
    // Null: an entry that is yet to be made.
    static std::size_t growth([[maybe_unused]] const LimitEntry* entry) {
        if constexpr (kInPlace) {
            return 0;
        } else {
            if (entry == nullptr) {
                return sizeof(State) + sizeof(typename State::value_type);
            }
            return has_room(*entry) ? 0 : (log(*entry)->size() + 1) * sizeof(typename State::value_type);
        }
    }
    // Whether the next charge needs no memory.
    static bool has_room([[maybe_unused]] const LimitEntry& entry) {
        if constexpr (kInPlace) {
            return true;
        } else {
            return log(entry)->size() < log(entry)->capacity();
        }
    }
    // So that the next charge needs no memory. Throws std::bad_alloc, and then has changed nothing.
    static void make_room([[maybe_unused]] LimitEntry& entry) {
        if constexpr (!kInPlace) {
            State& state = *log(entry);
            if (!has_room(entry)) {
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
    std::uint16_t plan;  // The plan's number and the kind of its rule; with kOverriding: of its override.
    std::uint32_t hash;  // Of both.
};

// Of the bits of EntryName::plan twelve are the plan's number and three the index of its rule: state of
// different rules lives apart, so a plan that changes its rule and changes it back goes on where it was.
inline constexpr unsigned kRuleShift = 12;
inline constexpr std::uint16_t kNumberMask = (1U << kRuleShift) - 1;
inline constexpr std::uint16_t kOverriding = 0x8000;
static_assert(std::variant_size_v<LimitRule> < 8);  // All bits set never names an entry.

inline constexpr std::uint16_t with_rule(std::uint16_t plan, std::size_t rule) {
    return static_cast<std::uint16_t>((plan & kNumberMask) | rule << kRuleShift);
}

inline std::uint32_t salt_of(std::uint16_t plan) { return plan * 0x9E3779B1U; }

inline EntryName named(std::string_view key, std::uint16_t plan, std::uint64_t hash) {
    return {key, plan, static_cast<std::uint32_t>(hash) ^ salt_of(plan)};
}

// The same key under another plan.
inline EntryName renamed(const EntryName& name, std::uint16_t plan) {
    return {name.key, plan, name.hash ^ salt_of(name.plan) ^ salt_of(plan)};
}
// The state that the plan's override has under a rule, and that the plan itself has.
inline EntryName overriding(const EntryName& name, std::size_t rule) {
    return renamed(name, static_cast<std::uint16_t>(with_rule(name.plan, rule) | kOverriding));
}
inline EntryName own(const EntryName& name, std::size_t rule) {
    return renamed(name, with_rule(name.plan, rule));
}
// Whether both are of one key and plan, whatever the rules.
inline bool same_plan(const EntryName& one, const EntryName& other) {
    return (one.plan & kNumberMask) == (other.plan & kNumberMask) && one.key == other.key;
}

}  // namespace sluice
