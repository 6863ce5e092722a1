#pragma once

#include <chrono>

namespace sluice::postgres {

// Lets this thread rest before something is tried again that others kept from it: for the pause at least, and
// at most twice as long, so that several who wait for the same do not meet each time.
void pause_before_retry(std::chrono::milliseconds pause = std::chrono::milliseconds{5});

}  // namespace sluice::postgres
