#include "store/rocks/client/crc32c.hpp"

#include <array>
#include <cstddef>

namespace sluice::rocks {
namespace {

constexpr std::size_t kStep = 8;  // Bytes at a time.
using Tables = std::array<std::array<std::uint32_t, 256>, kStep>;

// Table k holds what a byte does to the checksum from k bytes ahead.
constexpr Tables make_tables() {
    constexpr std::uint32_t kPolynomial = 0x82F63B78;
    Tables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? kPolynomial : 0);
        }
        tables[0][byte] = crc;
    }
    for (std::size_t k = 1; k < kStep; ++k) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = tables[k - 1][byte];
            tables[k][byte] = (before >> 8U) ^ tables[0][before & 0xFFU];
        }
    }
    return tables;
}
constexpr Tables kTables = make_tables();

std::uint32_t byte_at(std::string_view bytes, std::size_t place) {
    return static_cast<unsigned char>(bytes[place]);
}

}  // namespace

std::uint32_t masked_crc32c(std::string_view bytes) {
    std::uint32_t crc = ~std::uint32_t{0};
    std::size_t place = 0;
    for (; place + kStep <= bytes.size(); place += kStep) {
        std::uint32_t next = 0;
        for (std::size_t i = 0; i < kStep; ++i) {
            const std::uint32_t known = i < 4 ? (crc >> (8 * i)) & 0xFFU : 0;
            next ^= kTables[kStep - 1 - i][byte_at(bytes, place + i) ^ known];
        }
        crc = next;
    }
    for (; place < bytes.size(); ++place) {
        crc = (crc >> 8U) ^ kTables[0][(crc ^ byte_at(bytes, place)) & 0xFFU];
    }
    crc = ~crc;
    constexpr std::uint32_t kMask = 0xA282EAD8;
    return ((crc >> 15U) | (crc << 17U)) + kMask;
}

}  // namespace sluice::rocks
