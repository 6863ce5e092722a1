#include "files/setting_values.hpp"

#include <charconv>
#include <optional>
#include <string_view>

#include "base/iso8601.hpp"

namespace sluice {
namespace {

std::optional<Duration> short_duration(std::string_view text) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data(), end, number);
    const std::string_view unit{read, static_cast<std::size_t>(end - read)};
    const std::int64_t each = unit == "ms"  ? 1
                              : unit == "s" ? 1'000
                              : unit == "m" ? 60'000
                              : unit == "h" ? 3'600'000
                              : unit == "d" ? 86'400'000
                                            : 0;
    if (error != std::errc{} || each == 0 || number < 1 || number > kDurationMax.count() / each) {
        return std::nullopt;
    }
    return Duration{number * each};
}

}  // namespace

Result<Duration, std::string> duration_setting(const std::string& text) {
    if (const auto short_one = short_duration(text)) {
        return *short_one;
    }
    const auto parsed = parse_duration(text);
    if (!parsed) {
        return Unexpected{"'" + text +
                          "' is not a duration like 5s, 500ms, 2m, 1h or PT5S, at most 31 days."};
    }
    return *parsed;
}

Result<std::size_t, std::string> number_setting(const std::string& text, NumberRange range) {
    std::size_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || read != end || number < range.least || number > range.most) {
        return Unexpected{"'" + text + "' is not a whole number from " + std::to_string(range.least) +
                          " to " + std::to_string(range.most) + "."};
    }
    return number;
}

Result<std::uint64_t, std::string> size_setting(const std::string& text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data(), end, number);
    const std::string_view unit{read, static_cast<std::size_t>(end - read)};
    const int shift = unit.empty() ? 0 : unit == "KiB" ? 10 : unit == "MiB" ? 20 : unit == "GiB" ? 30 : -1;
    constexpr std::uint64_t kMost = std::uint64_t{1} << 50U;
    if (error != std::errc{} || shift < 0 || number > kMost >> static_cast<unsigned>(shift)) {
        return Unexpected{"'" + text + "' is not a size like 64MiB, 2GiB or a number of bytes."};
    }
    return number << static_cast<unsigned>(shift);
}

Result<std::string, std::string> path_setting(const std::string& text) {
    if (text.empty() || text.find('\0') != std::string::npos) {
        return Unexpected{std::string{"an empty path names nothing."}};
    }
    return text;
}

Result<bool, std::string> truth_setting(const std::string& text) {
    if (text != "true" && text != "false") {
        return Unexpected{"'" + text + "' is none of: false, true."};
    }
    return text == "true";
}

}  // namespace sluice
