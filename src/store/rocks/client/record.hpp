#pragma once

#include <cstdint>
#include <string_view>

#include "app/store_state.hpp"
#include "base/bytes.hpp"

namespace sluice::rocks {

// How the value of a row is laid out; 1 to 127, for each kind of row apart.
using RecordVersion = std::uint8_t;

// The value of a row.
struct Record {
    RecordVersion version;
    std::string_view rest;  // What the version says how to read.
};

// A version stands in front, in a byte of its own with the highest bit set. What has no such byte is of
// version 1: slots were stored like that at first, and their rows begin with a number far below 2^31.
inline constexpr std::uint8_t kVersionMark = 0x80;

inline Record read_record(std::string_view bytes) {
    const auto first = static_cast<std::uint8_t>(bytes.empty() ? 0 : bytes.front());
    return (first & kVersionMark) == 0
               ? Record{1, bytes}
               : Record{static_cast<RecordVersion>(first - kVersionMark), bytes.substr(1)};
}

// To be followed by the rest.
inline ByteWriter begin_record(RecordVersion version) {
    ByteWriter writer;
    writer.number(static_cast<std::uint8_t>(kVersionMark + version));
    return writer;
}

// Why a row could not be understood by somebody who knows versions up to `newest`: it is newer, or damaged.
StoreError unreadable_row(std::string_view table, std::string_view bytes, RecordVersion newest);

}  // namespace sluice::rocks
