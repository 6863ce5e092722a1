#pragma once

#include <string_view>
#include <vector>

// Finds the text of values as it was sent: byte for byte, as a parsed value cannot give it back.
// Pure. REQUIRES, of every text: valid JSON without repeated keys, as parse_strict_json takes it.
namespace sluice::http {

// The text of a member of an object, without the space around it. Empty: there is no such member, or the text
// is no object. A key counts by what it says, however it is escaped.
std::string_view raw_member(std::string_view text, std::string_view key);

// The texts of the elements of an array, in order. Empty: it has none, or the text is no array.
std::vector<std::string_view> raw_elements(std::string_view text);

}  // namespace sluice::http
