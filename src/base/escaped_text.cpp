#include "base/escaped_text.hpp"

#include "base/hex.hpp"
#include "base/utf8_walk.hpp"

namespace sluice {
namespace {

std::string escape_of(const Utf8Step& step) {
    switch (step.character) {
        case '\n': return "\\n";
        case '\r': return "\\r";
        case '\t': return "\\t";
        default: break;
    }
    const auto byte = static_cast<unsigned char>(step.bytes.front());
    const bool as_byte = !step.valid || step.character < 0x80;
    std::string escape = as_byte ? "\\x" : "\\u";
    append_hex(escape, as_byte ? byte : static_cast<unsigned>(step.character), as_byte ? 2 : 4);
    return escape;
}

}  // namespace

std::size_t append_escaped(std::string& line, std::string_view bytes, std::size_t most) {
    std::size_t taken = 0;
    while (taken < bytes.size()) {
        const Utf8Step step = next_character(bytes.substr(taken));
        const std::string escape = !step.valid || step.control() ? escape_of(step) : std::string{};
        const std::string_view piece = escape.empty() ? step.bytes : std::string_view{escape};
        if (piece.size() > most) {
            break;
        }
        line += piece;
        most -= piece.size();
        taken += step.bytes.size();
    }
    return taken;
}

}  // namespace sluice
