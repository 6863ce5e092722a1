#include "store/redis/script.hpp"

#include <array>

#include <openssl/evp.h>

#include "store/redis/script_parts.hpp"

namespace sluice::redis {
namespace {

std::string sha1_in_hex(std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    for (unsigned int i = 0; i < size; ++i) {
        hex.push_back(kDigits[digest.at(i) >> 4U]);
        hex.push_back(kDigits[digest.at(i) & 0xFU]);
    }
    return hex;
}

}  // namespace

ScriptTime server_time() { return {server_time_lua()}; }

// The first line makes Redis refuse the whole script on a replica, where otherwise what needs no write, a
// denial or a peek, would be answered from a state that may be old.
Script::Script(const ScriptTime& time) : text_{"#!lua\n"} {
    text_.append(time.lua);
    for (const std::string_view part : limit_script_parts()) {
        text_.append(part);
    }
    sha_ = sha1_in_hex(text_);
}

}  // namespace sluice::redis
