#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

// Appends fixed-width integers and length-prefixed text to a byte string, most significant byte first, so
// that encoded keys sort like the numbers they hold.
class ByteWriter {
public:
    template <std::unsigned_integral Number>
    ByteWriter& number(Number value) {
        for (int shift = (static_cast<int>(sizeof(Number)) - 1) * 8; shift >= 0; shift -= 8) {
            bytes_.push_back(static_cast<char>(static_cast<std::uint8_t>(value >> shift)));
        }
        return *this;
    }

    // REQUIRES: text.size() < 65536.
    ByteWriter& text(std::string_view text) {
        number(static_cast<std::uint16_t>(text.size()));
        bytes_.append(text);
        return *this;
    }

    ByteWriter& raw(std::string_view bytes) {
        bytes_.append(bytes);
        return *this;
    }

    void clear() { bytes_.clear(); }
    [[nodiscard]] const std::string& bytes() const& { return bytes_; }
    [[nodiscard]] std::string bytes() && { return std::move(bytes_); }

private:
    std::string bytes_;
};

// Reads what ByteWriter wrote. Reading past the end gives zeros and makes ok() false, so that a decoder can
// read a whole record and ask once.
class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) : rest_{bytes} {}

    template <std::unsigned_integral Number>
    Number number() {
        if (!has(sizeof(Number))) {
            return 0;
        }
        Number value = 0;
        for (std::size_t i = 0; i < sizeof(Number); ++i) {
            value = static_cast<Number>((value << 8U) | static_cast<std::uint8_t>(rest_[i]));
        }
        rest_.remove_prefix(sizeof(Number));
        return value;
    }

    std::string_view text() {
        const std::size_t length = number<std::uint16_t>();
        if (!has(length)) {
            return {};
        }
        const std::string_view taken = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return taken;
    }

    // Everything was there, and nothing was left over.
    [[nodiscard]] bool consumed() const { return ok_ && rest_.empty(); }
    [[nodiscard]] bool ok() const { return ok_; }

private:
    bool has(std::size_t count) {
        ok_ = ok_ && rest_.size() >= count;
        return ok_;
    }

    std::string_view rest_;
    bool ok_ = true;
};

}  // namespace sluice
