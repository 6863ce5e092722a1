#include "store/postgres/client/parameters.hpp"

#include <limits>

#include "base/hex.hpp"

namespace sluice::postgres {
namespace {

constexpr std::size_t kNull = std::numeric_limits<std::size_t>::max();

}  // namespace

std::string bytes_text(std::string_view bytes) {
    std::string text = "\\x";
    text.reserve(2 + 2 * bytes.size());
    for (const char letter : bytes) {
        append_hex(text, static_cast<unsigned char>(letter), 2);
    }
    return text;
}

ArrayText& ArrayText::add(std::string_view element) {
    separate();
    text_ += '"';  // Quoted always: so neither an empty text nor the word NULL is an exception.
    for (const char letter : element) {
        if (letter == '"' || letter == '\\') {
            text_ += '\\';
        }
        text_ += letter;
    }
    text_ += '"';
    return *this;
}

ArrayText& ArrayText::add(std::int64_t element) {
    separate();
    text_ += std::to_string(element);
    return *this;
}

ArrayText& ArrayText::add_null() {
    separate();
    text_ += "NULL";
    return *this;
}

Parameters& Parameters::add(std::string_view text) {
    sendable_ = sendable_ && text.find('\0') == std::string_view::npos;
    starts_.push_back(bytes_.size());
    bytes_ += text;
    bytes_ += '\0';
    return *this;
}

Parameters& Parameters::add(std::int64_t number) { return add(std::string_view{std::to_string(number)}); }

Parameters& Parameters::add_null() {
    starts_.push_back(kNull);
    return *this;
}

Parameters& Parameters::add_text_array(std::span<const std::string_view> texts) {
    ArrayText array;
    for (const auto text : texts) {
        array.add(text);
    }
    return add(array);
}

Parameters& Parameters::add_numbers(std::span<const std::int64_t> numbers) {
    ArrayText array;
    for (const auto number : numbers) {
        array.add(number);
    }
    return add(array);
}

std::vector<const char*> Parameters::pointers() const {
    std::vector<const char*> pointers;
    pointers.reserve(starts_.size());
    for (const auto start : starts_) {
        pointers.push_back(start == kNull ? nullptr : bytes_.data() + start);
    }
    return pointers;
}

}  // namespace sluice::postgres
