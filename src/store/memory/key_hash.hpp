#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace sluice {

// A number made of the bytes there.
template <class Number = std::uint64_t>
Number bytes_at(const char* data) {
    Number result = 0;
    std::memcpy(&result, data, sizeof(result));
    return result;
}

// Whether two byte strings of one length are equal, for lengths that do not earn a call.
inline bool same_bytes(const char* one, const char* other, std::size_t length) {
    // Numbers overlap where the length is no multiple of theirs.
    const auto differ = [&]<class Number>(Number /*kind*/, std::size_t at) {
        return bytes_at<Number>(one + at) ^ bytes_at<Number>(other + at);
    };
    if (length >= 8 && length <= 24) {
        const std::uint64_t kind = 0;
        return (differ(kind, 0) | differ(kind, length < 16 ? 0 : 8) | differ(kind, length - 8)) == 0;
    }
    if (length >= 4 && length < 8) {
        const std::uint32_t kind = 0;
        return (differ(kind, 0) | differ(kind, length - 4)) == 0;
    }
    return std::memcmp(one, other, length) == 0;
}

// A 64-bit hash of short byte strings: two words at a time are folded by one wide multiplication, the last
// two overlapping those before. The seed is secret and drawn anew for each store, and is part of both factors
// of every multiplication: were one of them known, keys could be prepared that make it 0, and all collide.
class KeyHash {
public:
    explicit KeyHash(std::uint64_t seed) : seed_{seed}, secret_{fold(seed ^ kFirst, kOdd)} {}

    [[nodiscard]] std::uint64_t operator()(std::string_view text) const {
        const char* data = text.data();
        std::uint64_t state = seed_ ^ (text.size() * kOdd);
        if (text.size() < 8) {
            return fold(tail(data, text.size()) ^ secret_, state ^ kOdd);
        }
        const char* const end = data + text.size();
        for (; end - data > 16; data += 16) {
            state = seed_ ^ fold(bytes_at(data) ^ secret_, bytes_at(data + 8) ^ state);
        }
        const char* const last = text.size() < 16 ? data : end - 16;
        return fold(bytes_at(last) ^ secret_, bytes_at(end - 8) ^ state);
    }

private:
    static constexpr std::uint64_t kFirst = 0x2D358DCCAA6C78A5;
    static constexpr std::uint64_t kOdd = 0x8BB84B93962EACC9;

    static std::uint64_t byte(char c) { return static_cast<unsigned char>(c); }

    // Fewer than eight bytes, all of them in the result.
    static std::uint64_t tail(const char* data, std::size_t left) {
        if (left >= 4) {
            return bytes_at<std::uint32_t>(data) * (std::uint64_t{1} << 32U) +
                   bytes_at<std::uint32_t>(data + left - 4);
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
