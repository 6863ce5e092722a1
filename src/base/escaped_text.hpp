#pragma once

#include <string>
#include <string_view>

namespace sluice {

// Appends any bytes as text of one line: control characters and bytes that are not UTF-8 become \n, \r, \t,
// \xNN or \uNNNN. Appends at most `most` bytes, and neither a part of a character nor of an escape. Returns
// how many of the bytes it took, from the first on.
std::size_t append_escaped(std::string& line, std::string_view bytes, std::size_t most = std::string::npos);

}  // namespace sluice
