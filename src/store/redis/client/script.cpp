#include "store/redis/client/script.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <openssl/evp.h>

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

Script::Script(std::string text) : text_{std::move(text)}, sha_{sha1_in_hex(text_)} {}

}  // namespace sluice::redis
