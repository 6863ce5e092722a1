#include <random>

#include "library/store_repository.hpp"
#include "store/memory/fast_clock.hpp"
#include "store/memory/memory_limit_store.hpp"

namespace sluice {
namespace {

std::uint64_t fresh_seed() {
    std::random_device device;
    return std::uint64_t{device()} << 32U | device();
}

}  // namespace

OwnedStore make_memory_store(std::size_t keys_max, std::size_t list_bytes_max) {
    OwnedStore owned;
    owned.clock = make_fast_clock();
    owned.store = make_memory_limit_store(
        {.keys_max = keys_max, .seed = fresh_seed(), .list_bytes_max = list_bytes_max}, *owned.clock);
    return owned;
}

std::unique_ptr<RateLimiterRepository> make_memory_repository(const MemoryRepositoryOptions& options) {
    return repository_over(make_memory_store(options.keys_max, options.list_bytes_max));
}

}  // namespace sluice
