#include "stream/kafka/topic_name.hpp"

#include <algorithm>

namespace sluice::kafka {
namespace {

constexpr std::size_t kBytesMax = 249;  // Longer ones would not fit into the name of a log's folder.

// Not by <cctype>, which asks the locale.
bool is_legal(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '.' || letter == '_' || letter == '-';
}

}  // namespace

std::optional<std::string> topic_name_fault(std::string_view name) {
    if (name.empty()) {
        return "A topic has a name.";
    }
    if (name.size() > kBytesMax) {
        return "The name of a topic has at most 249 bytes.";
    }
    if (name == "." || name == "..") {
        return "A topic cannot be named '.' or '..'.";
    }
    if (!std::all_of(name.begin(), name.end(), is_legal)) {
        return "The name of a topic consists of letters, digits, '.', '_' and '-'.";
    }
    return std::nullopt;
}

}  // namespace sluice::kafka
