#pragma once

#include <array>

#include "support/limit_words.hpp"
#include "support/redis_fixture.hpp"

namespace sluice::test {

inline const Plan kGold = plan("gold", bucket(10, 1, 1h));
inline const std::array kGoldOnly{&kGold};

// Why a store does not open.
inline std::string refusal(const RedisOptions& options) {
    const auto opened = open_redis_limit_store(options);
    return opened ? "it was not refused" : opened.error();
}

// Opens a store and takes one; -1: it got no answer.
inline Tokens left_after_one(const RedisOptions& options, std::string_view key = "k") {
    const Check check{key, kGoldOnly, 1};
    CheckOutcome outcome = Verdict{};
    open_limits(options)->take({&check, 1}, {&outcome, 1});
    return outcome ? outcome->remaining : -1;
}

// Makes the user `sluice` with the password `hush`, who may do what docs/limits.md says, and `more`.
inline std::vector<std::string> modest_user(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{
        "ACL",    "SETUSER",  "sluice", "on",    ">hush",      "~rate_limiter:*", "+evalsha", "+script|load",
        "+hmget", "+hgetall", "+hset",  "+hdel", "+pexpireat", "+time",           "+ping",    "+info"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

}  // namespace sluice::test
