#include "door/http/strict_json.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>

namespace sluice::http {
namespace {

namespace json = boost::json;

constexpr std::size_t kDepthMax = 16;

// Builds a value from the parser's events, and remembers the keys of the objects that are open: the values
// themselves keep only the last of two equal keys.
class ValueBuilder {
public:
    // The parser wants these names. NOLINTBEGIN(readability-identifier-naming)
    static constexpr std::size_t max_object_size = std::size_t{1} << 24;
    static constexpr std::size_t max_array_size = std::size_t{1} << 24;
    static constexpr std::size_t max_key_size = std::size_t{1} << 24;
    static constexpr std::size_t max_string_size = std::size_t{1} << 24;
    // NOLINTEND(readability-identifier-naming)

    explicit ValueBuilder(json::storage_ptr memory) { stack_.reset(std::move(memory)); }

    json::value release() { return stack_.release(); }

    [[nodiscard]] bool counted(json::error_code& error) {
        if (++values_ > kJsonValuesMax) {
            error = json::error::array_too_large;
        }
        return !error;
    }

    bool on_document_begin(json::error_code&) { return true; }
    bool on_document_end(json::error_code&) { return true; }

    bool on_object_begin(json::error_code&) {
        objects_.push_back(keys_.size());
        return true;
    }
    bool on_object_end(std::size_t size, json::error_code& error) {
        const auto first = keys_.begin() + static_cast<std::ptrdiff_t>(objects_.back());
        std::sort(first, keys_.end());
        if (std::adjacent_find(first, keys_.end()) != keys_.end()) {
            error = json::error::syntax;
            return false;
        }
        keys_.erase(first, keys_.end());
        objects_.pop_back();
        stack_.push_object(size);
        return counted(error);
    }
    bool on_array_begin(json::error_code&) { return true; }
    bool on_array_end(std::size_t size, json::error_code& error) {
        stack_.push_array(size);
        return counted(error);
    }
    bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
        partial_key_.append(part.data(), part.size());
        stack_.push_chars(part);
        return true;
    }
    bool on_key(json::string_view rest, std::size_t, json::error_code&) {
        partial_key_.append(rest.data(), rest.size());
        keys_.push_back(std::move(partial_key_));
        partial_key_.clear();
        stack_.push_key(rest);
        return true;
    }
    bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
        stack_.push_chars(part);
        return true;
    }
    bool on_string(json::string_view rest, std::size_t, json::error_code& error) {
        stack_.push_string(rest);
        return counted(error);
    }
    bool on_number_part(json::string_view, json::error_code&) { return true; }
    bool on_int64(std::int64_t number, json::string_view, json::error_code& error) {
        stack_.push_int64(number);
        return counted(error);
    }
    bool on_uint64(std::uint64_t number, json::string_view, json::error_code& error) {
        stack_.push_uint64(number);
        return counted(error);
    }
    bool on_double(double number, json::string_view, json::error_code& error) {
        stack_.push_double(number);
        return counted(error);
    }
    bool on_bool(bool value, json::error_code& error) {
        stack_.push_bool(value);
        return counted(error);
    }
    bool on_null(json::error_code& error) {
        stack_.push_null();
        return counted(error);
    }
    bool on_comment_part(json::string_view, json::error_code&) { return true; }
    bool on_comment(json::string_view, json::error_code&) { return true; }

private:
    json::value_stack stack_;
    std::vector<std::string> keys_;     // Of all open objects, one behind the other.
    std::vector<std::size_t> objects_;  // Where in keys_ each open object begins.
    std::string partial_key_;
    std::size_t values_ = 0;
};

// Whether the parser stopped at a NaN or an Infinity. It may have taken the sign.
bool is_no_number(std::string_view text, std::size_t stopped_at) {
    std::string_view rest = text.substr(std::min(stopped_at, text.size()));
    if (rest.starts_with('-')) {
        rest.remove_prefix(1);
    }
    return rest.starts_with("NaN") || rest.starts_with("Infinity");
}

// The same text with zeros for every exponent that is too long for the parser. JSON knows no bound, and
// whoever reads such a number here refuses it as no whole number, whatever its value; a payload goes out as
// it was sent.
std::string with_short_exponents(std::string_view text) {
    constexpr std::size_t kDigitsMax = 6;
    std::string copy{text};
    bool in_string = false;
    for (std::size_t at = 0; at < copy.size(); ++at) {
        if (in_string && copy[at] == '\\') {
            ++at;
        } else if (copy[at] == '"') {
            in_string = !in_string;
        } else if (!in_string && (copy[at] == 'e' || copy[at] == 'E')) {
            const std::size_t first = std::min(copy.find_first_not_of("+-", at + 1), copy.size());
            const std::size_t end = std::min(copy.find_first_not_of("0123456789", first), copy.size());
            if (end - first > kDigitsMax) {
                copy.replace(first, end - first, end - first, '0');
            }
            at = end - 1;
        }
    }
    return copy;
}

Result<json::value, JsonFault> parse(std::string_view text, json::storage_ptr memory,
                                     json::error_code& error) {
    json::parse_options options;
    options.max_depth = kDepthMax;
    json::basic_parser<ValueBuilder> parser{options, std::move(memory)};
    const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
    if (error) {
        return Unexpected{is_no_number(text, used) ? JsonFault::NotANumber : JsonFault::Malformed};
    }
    if (used != text.size() || !parser.done()) {
        return Unexpected{JsonFault::Malformed};
    }
    return parser.handler().release();
}

}  // namespace

Result<json::value, JsonFault> parse_strict_json(std::string_view text, const json::storage_ptr& memory) {
    json::error_code error;
    auto value = parse(text, memory, error);
    if (error == json::error::exponent_overflow) {
        error = {};
        return parse(with_short_exponents(text), memory, error);
    }
    return value;
}

}  // namespace sluice::http
