#pragma once

#include "library/owned_store.hpp"

namespace sluice {

// Any store of limits as a repository. Keys that others hold for too long are Unavailable.
std::unique_ptr<RateLimiterRepository> repository_over(OwnedStore owned);
// The same, unless there is none.
Result<std::unique_ptr<RateLimiterRepository>, std::string> repository_over(
    Result<OwnedStore, std::string> opened);

}  // namespace sluice
