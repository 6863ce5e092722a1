#include "door/http/raw_json.hpp"

#include <algorithm>

#include <boost/json/parse.hpp>
#include <boost/json/string.hpp>

namespace sluice::http {
namespace {

namespace json = boost::json;

constexpr std::string_view kSpace = " \t\r\n";

// Walks over the values of a text that is known to be JSON. At its end every step stays where it is.
class RawWalk {
public:
    explicit RawWalk(std::string_view text) : rest_{text} { skip_space(); }

    // Steps over the character if it is next, and over the space behind it.
    bool take(char wanted) {
        if (!rest_.starts_with(wanted)) {
            return false;
        }
        rest_.remove_prefix(1);
        skip_space();
        return true;
    }

    // Steps over one value, and over the space behind it.
    std::string_view value() {
        const std::size_t size = rest_.starts_with('"') ? string_size()
                                 : rest_.starts_with('{') || rest_.starts_with('[')
                                     ? nest_size()
                                     : rest_.find_first_of(",]} \t\r\n");
        const std::string_view found = rest_.substr(0, size);
        rest_.remove_prefix(found.size());
        skip_space();
        return found;
    }

private:
    void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size())); }

    // Of the string that begins at `from`, with its quotes.
    [[nodiscard]] std::size_t string_size(std::size_t from = 0) const {
        for (std::size_t at = from + 1; at < rest_.size(); ++at) {
            if (rest_[at] == '\\') {
                ++at;  // Whatever is escaped, it is not the end.
            } else if (rest_[at] == '"') {
                return at + 1 - from;
            }
        }
        return rest_.size() - from;
    }

    // Of the object or array that is next.
    [[nodiscard]] std::size_t nest_size() const {
        std::size_t depth = 0;
        for (std::size_t at = 0; at < rest_.size(); ++at) {
            const char one = rest_[at];
            if (one == '"') {
                at += string_size(at) - 1;
            } else if (one == '{' || one == '[') {
                ++depth;
            } else if ((one == '}' || one == ']') && --depth == 0) {
                return at + 1;
            }
        }
        return rest_.size();
    }

    std::string_view rest_;
};

// `quoted` is a string as it stands in the text, with its quotes.
bool says(std::string_view quoted, std::string_view key) {
    if (quoted.find('\\') == std::string_view::npos) {
        return quoted.size() == key.size() + 2 && quoted.substr(1, key.size()) == key;
    }
    boost::system::error_code error;
    const json::value said = json::parse({quoted.data(), quoted.size()}, error);
    return !error && said.is_string() && said.get_string() == json::string_view{key.data(), key.size()};
}

}  // namespace

std::string_view raw_member(std::string_view text, std::string_view key) {
    RawWalk walk{text};
    if (!walk.take('{') || walk.take('}')) {
        return {};
    }
    do {
        const std::string_view name = walk.value();
        walk.take(':');
        const std::string_view value = walk.value();
        if (says(name, key)) {
            return value;
        }
    } while (walk.take(','));
    return {};
}

std::vector<std::string_view> raw_elements(std::string_view text) {
    RawWalk walk{text};
    std::vector<std::string_view> elements;
    if (!walk.take('[') || walk.take(']')) {
        return elements;
    }
    do {
        elements.push_back(walk.value());
    } while (walk.take(','));
    return elements;
}

}  // namespace sluice::http
