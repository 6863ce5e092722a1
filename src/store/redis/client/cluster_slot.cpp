#include "store/redis/client/cluster_slot.hpp"

#include <array>

namespace sluice::redis {
namespace {

// CRC-16/XMODEM: polynomial 0x1021, nothing reflected, from 0.
constexpr std::array<std::uint16_t, 256> crc_table() {
    std::array<std::uint16_t, 256> table{};
    for (std::size_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t value = static_cast<std::uint32_t>(byte) << 8U;
        for (int bit = 0; bit < 8; ++bit) {
            value = (value << 1U) ^ ((value & 0x8000U) != 0 ? 0x1021U : 0U);
        }
        table[byte] = static_cast<std::uint16_t>(value);
    }
    return table;
}
constexpr auto kCrcTable = crc_table();

std::uint16_t crc16(std::string_view bytes) {
    std::uint32_t crc = 0;
    for (const char c : bytes) {
        crc = (crc << 8U) ^ kCrcTable[((crc >> 8U) ^ static_cast<std::uint8_t>(c)) & 0xFFU];
    }
    return static_cast<std::uint16_t>(crc);
}

}  // namespace

std::uint16_t slot_of(std::string_view redis_key) {
    const std::size_t open = redis_key.find('{');
    if (open != std::string_view::npos) {
        const std::size_t close = redis_key.find('}', open + 1);
        if (close != std::string_view::npos && close > open + 1) {
            redis_key = redis_key.substr(open + 1, close - open - 1);
        }
    }
    return crc16(redis_key) % kSlots;
}

}  // namespace sluice::redis
