#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace sluice {

// Whether two byte strings of one length are equal, for lengths that do not earn a call.
inline bool same_bytes(const char* one, const char* other, std::size_t length) {
    const auto word = [](const char* data) {
        std::uint64_t result = 0;
        std::memcpy(&result, data, sizeof(result));
        return result;
    };
    if (length < 8 || length > 24) {
        return std::memcmp(one, other, length) == 0;
    }
    // The words overlap where the length is no multiple of eight.
    const std::size_t middle = length < 16 ? 0 : 8;
    return ((word(one) ^ word(other)) | (word(one + middle) ^ word(other + middle)) |
            (word(one + length - 8) ^ word(other + length - 8))) == 0;
}

// A 64-bit hash of short byte strings: two words at a time are folded by one wide multiplication, the last
// two overlapping. The seed is secret and drawn anew for each store, and is part of both factors of every
// multiplication: were one of them known, keys could be prepared that make it 0, and all collide.
class KeyHash {
public:
    explicit KeyHash(std::uint64_t seed) : seed_{seed}, secret_{fold(seed ^ kFirst, kOdd)} {}

    [[nodiscard]] std::uint64_t operator()(std::string_view text) const {
        const char* data = text.data();
        std::size_t left = text.size();
        std::uint64_t state = seed_ ^ (left * kOdd);
        while (left > 16) {
            state = seed_ ^ fold(word(data) ^ secret_, word(data + 8) ^ state);
            data += 16;
            left -= 16;
        }
        if (left >= 8) {
            return fold(word(data) ^ secret_, word(data + left - 8) ^ state);
        }
        return fold(tail(data, left) ^ secret_, state ^ kOdd);
    }

private:
    static constexpr std::uint64_t kFirst = 0x2D358DCCAA6C78A5;
    static constexpr std::uint64_t kOdd = 0x8BB84B93962EACC9;

    static std::uint64_t word(const char* data) {
        std::uint64_t result = 0;
        std::memcpy(&result, data, sizeof(result));
        return result;
    }

    static std::uint64_t half(const char* data) {
        std::uint32_t result = 0;
        std::memcpy(&result, data, sizeof(result));
        return result;
    }

    static std::uint64_t byte(char c) { return static_cast<unsigned char>(c); }

    // Fewer than eight bytes, all of them in the result.
    static std::uint64_t tail(const char* data, std::size_t left) {
        if (left >= 4) {
            return half(data) << 32U | half(data + left - 4);
        }
        return left == 0 ? 0 : byte(data[0]) << 16U | byte(data[left / 2]) << 8U | byte(data[left - 1]);
    }

    static std::uint64_t fold(std::uint64_t one, std::uint64_t other) {
        __extension__ using Wide = unsigned __int128;
        const Wide product = static_cast<Wide>(one) * other;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
    }

    std::uint64_t seed_;
    std::uint64_t secret_;  // Made of the seed: a second one that is not the first.
};

}  // namespace sluice
