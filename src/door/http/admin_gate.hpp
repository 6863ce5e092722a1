#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace sluice::http {

enum class Admission {
    Granted,       // By the right token.
    Unguarded,     // There is no token to ask for.
    TokenMissing,  // None was sent, or it is not the one: both look alike from outside.
    TooManyTries,  // Not the one either, and this address failed too often in the last minute.
};

// Decides who may use the admin routes. Without a token everyone may who speaks to this machine by its own
// name: only a loopback listener may be run so. The right token passes, however many wrong ones came from its
// address. The token is kept as its SHA-256 and compared in constant time.
// Thread safety: all of it.
class AdminGate {
public:
    // Reads the token: the file's first line, at least 32 bytes. On failure the token in force stays.
    Result<void, std::string> load(const std::string& path);

    [[nodiscard]] bool guarded() const;

    // `authorization` is the header's value, empty when there is none.
    Admission admit(std::string_view authorization, const std::string& address);

private:
    using Digest = std::array<unsigned char, 32>;
    using SteadyTime = std::chrono::steady_clock::time_point;

    // Forgets what is long ago. REQUIRES: mutex_ is held.
    bool tried_too_often(const std::string& address, SteadyTime now);

    mutable std::mutex mutex_;
    std::optional<Digest> token_;  // Guarded by mutex_.
    std::map<std::string, std::deque<SteadyTime>>
        failures_;  // Guarded by mutex_. Bounded in both directions.
};

}  // namespace sluice::http
