#include "store/redis/client/script.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <openssl/evp.h>

#include "base/hex.hpp"

namespace sluice::redis {
namespace {

std::string sha1_in_hex(std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
    std::string hex;
    for (unsigned int i = 0; i < size; ++i) {
        append_hex(hex, digest.at(i), 2);
    }
    return hex;
}

}  // namespace

Script::Script(std::string text) : text_{std::move(text)}, sha_{sha1_in_hex(text_)} {}

}  // namespace sluice::redis
