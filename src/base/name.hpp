#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {

// True for well-formed UTF-8 without control characters.
bool is_printable_utf8(std::string_view text);

// Text that a caller chose to name something: 1 to `BytesMax` bytes of UTF-8 without control characters, kept
// verbatim and never interpreted. The tag keeps names of different things apart.
template <class Tag, std::size_t BytesMax>
class Name {
public:
    static constexpr std::size_t kBytesMax = BytesMax;

    static std::optional<Name> make(std::string_view text) {
        if (text.empty() || text.size() > BytesMax || !is_printable_utf8(text)) {
            return std::nullopt;
        }
        return Name{std::string{text}};
    }

    [[nodiscard]] const std::string& text() const { return text_; }
    auto operator<=>(const Name&) const = default;

private:
    explicit Name(std::string text) : text_{std::move(text)} {}

    std::string text_;
};

}  // namespace sluice
