#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::rocks {

// The checksum of a piece of a RocksDB log: CRC-32C, masked as RocksDB does.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace sluice::rocks
