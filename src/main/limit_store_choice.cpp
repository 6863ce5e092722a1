#include "main/limit_store_choice.hpp"

#include <random>

#include "store/memory/fast_clock.hpp"

namespace sluice {
namespace {

std::uint64_t random_seed() {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
}

}  // namespace

Result<ChosenLimitStore, std::string> choose_limit_store(const Settings& settings) {
    // Enough for the plans that fail locally; its memory is touched only when they do.
    constexpr std::size_t kLocalKeysMax = 100'000;
    ChosenLimitStore chosen;
    chosen.clock = make_fast_clock();
    auto store =
        make_memory_limit_store({.keys_max = settings.limits.keys_max, .seed = random_seed()}, *chosen.clock);
    chosen.figures = [memory = store.get()] { return memory->figures(); };
    chosen.store = std::move(store);
    chosen.local = make_memory_limit_store({.keys_max = kLocalKeysMax, .seed = random_seed()}, *chosen.clock);
    return chosen;
}

}  // namespace sluice
