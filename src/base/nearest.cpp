#include "base/nearest.hpp"

#include <algorithm>
#include <vector>

namespace sluice {
namespace {

char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

}  // namespace

std::size_t edit_distance(std::string_view from, std::string_view to) {
    // Three rows of the usual table: a swap of neighbours looks back two rows.
    std::vector<std::size_t> before(to.size() + 1);
    std::vector<std::size_t> above(to.size() + 1);
    std::vector<std::size_t> row(to.size() + 1);
    for (std::size_t j = 0; j <= to.size(); ++j) {
        above[j] = j;
    }
    for (std::size_t i = 1; i <= from.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= to.size(); ++j) {
            const bool same = lower(from[i - 1]) == lower(to[j - 1]);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
            const bool swapped = i > 1 && j > 1 && lower(from[i - 1]) == lower(to[j - 2]) &&
                                 lower(from[i - 2]) == lower(to[j - 1]);
            if (swapped) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        std::swap(before, above);
        std::swap(above, row);
    }
    return above[to.size()];
}

std::string nearest_of(std::string_view word, std::span<const std::string> known) {
    const auto closer = [word](const std::string& left, const std::string& right) {
        return edit_distance(word, left) < edit_distance(word, right);
    };
    const auto found = std::min_element(known.begin(), known.end(), closer);
    return found == known.end() ? std::string{} : *found;
}

std::string near_of(std::string_view word, std::span<const std::string> known) {
    std::string nearest = nearest_of(word, known);
    // A third of the letters, and at least one.
    const std::size_t slips = std::max<std::size_t>(1, std::max(word.size(), nearest.size()) / 3);
    return edit_distance(word, nearest) <= slips ? nearest : std::string{};
}

}  // namespace sluice
