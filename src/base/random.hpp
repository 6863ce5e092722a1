#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace sluice {

// A small, fast source of random numbers (xoshiro256++, seeded through splitmix64). The same seed gives the
// same numbers on every machine, so that a test can repeat what it saw. Not for secrets.
// Thread safety: none; each owner has its own.
class Random {
public:
    explicit Random(std::uint64_t seed) {
        for (auto& word : state_) {
            seed += 0x9E3779B97F4A7C15;
            std::uint64_t mixed = seed;
            mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
            mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
            word = mixed ^ (mixed >> 31);
        }
    }

    std::uint64_t next() {
        const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    // Uniform in [0, bound), without the bias of a plain remainder.
    // REQUIRES: bound > 0.
    std::uint64_t below(std::uint64_t bound) {
        const std::uint64_t unfair = (0 - bound) % bound;
        std::uint64_t drawn = next();
        while (drawn < unfair) {
            drawn = next();
        }
        return drawn % bound;
    }

private:
    std::array<std::uint64_t, 4> state_{};
};

}  // namespace sluice
