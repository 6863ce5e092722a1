#include "store/postgres/client/row_reader.hpp"

#include <charconv>

namespace sluice::postgres {
namespace {

// Takes all of the text, or nothing.
template <class Number>
std::optional<Number> number_in(std::string_view text, int base) {
    Number value{};
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, base);
    const bool whole = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
    return whole ? std::optional{value} : std::nullopt;
}

}  // namespace

std::string RowReader::bytes() {
    const std::string_view digits = rows_.text(row_, column_++);
    whole_ = whole_ && digits.size() % 2 == 0;
    std::string bytes;
    bytes.reserve(digits.size() / 2);
    for (std::size_t i = 0; whole_ && i < digits.size(); i += 2) {
        const auto value = number_in<std::uint8_t>(digits.substr(i, 2), 16);
        whole_ = value.has_value();
        bytes += static_cast<char>(value.value_or(0));
    }
    return bytes;
}

std::optional<std::vector<std::int64_t>> RowReader::numbers_if_any() {
    if (next_is_null()) {
        ++column_;
        return std::nullopt;
    }
    std::string_view array = rows_.text(row_, column_++);
    std::vector<std::int64_t> numbers;
    while (array.size() > 1 && array != "{}") {  // The closing brace is left.
        array.remove_prefix(1);
        const std::string_view element = array.substr(0, array.find_first_of(",}"));
        const auto number = number_in<std::int64_t>(element, 10);
        whole_ = whole_ && number;
        numbers.push_back(number.value_or(0));
        array.remove_prefix(element.size());
    }
    return numbers;
}

}  // namespace sluice::postgres
