#pragma once

#include <memory>
#include <string>

#include <sluice/repositories.hpp>

#include "app/limits/limit_store.hpp"
#include "app/limits/moment_clock.hpp"
#include "library/silent_world.hpp"

namespace sluice {

// A store of limits with all that it needs to live.
struct OwnedStore {
    std::unique_ptr<MomentClock> clock{};   // Of a store in memory.
    std::unique_ptr<SilentWorld> silent{};  // Of a store that logs and measures.
    std::unique_ptr<LimitStore> store{};    // Last: it uses the rest.
};

// Throws as make_memory_repository() does.
OwnedStore make_memory_store(std::size_t keys_max,
                             std::size_t list_bytes_max = MemoryRepositoryOptions{}.list_bytes_max);
// Both fail with one sentence.
// `patience`: how long callers wait, if longer than the time-out.
Result<OwnedStore, std::string> open_redis_store(const RedisRepositoryOptions& options,
                                                 std::chrono::milliseconds patience = {});
Result<OwnedStore, std::string> open_postgres_store(const PostgresRepositoryOptions& options);

}  // namespace sluice
