#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sluice {

// How many letters must be added, dropped, replaced or swapped with their neighbour to turn one word into the
// other. Small and capital letters count as alike.
std::size_t edit_distance(std::string_view from, std::string_view to);

// The known word that is closest to a mistyped one; the first of them when several are. Empty when none is
// known.
std::string nearest_of(std::string_view word, std::span<const std::string> known);

// The same, but empty unless it is so close that the word may be a slip of it.
std::string near_of(std::string_view word, std::span<const std::string> known);

}  // namespace sluice
