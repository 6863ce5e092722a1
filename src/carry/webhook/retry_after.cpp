#include "carry/webhook/retry_after.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace sluice::webhook {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// REQUIRES: all of them are digits, and few enough.
int number_of(std::string_view digits) {
    int number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

// Whether it has digits where the pattern has 0, any letter where it has A, and the same otherwise.
bool is_like(std::string_view text, std::string_view pattern) {
    return std::equal(text.begin(), text.end(), pattern.begin(), pattern.end(), [](char letter, char like) {
        return like == '0' ? is_digit(letter) : like == 'A' ? letter > ' ' : letter == like;
    });
}

std::optional<Instant> parse_date(std::string_view text) {
    if (!is_like(text, "AAA, 00 AAA 0000 00:00:00 GMT")) {
        return std::nullopt;
    }
    const auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
    const bool has_day = std::find(kDays.begin(), kDays.end(), text.substr(0, 3)) != kDays.end();
    if (month == kMonths.end() || !has_day) {
        return std::nullopt;
    }
    const std::chrono::year_month_day date{
        std::chrono::year{number_of(text.substr(12, 4))},
        std::chrono::month{static_cast<unsigned>(month - kMonths.begin()) + 1},
        std::chrono::day{static_cast<unsigned>(number_of(text.substr(5, 2)))}};
    const int hour = number_of(text.substr(17, 2));
    const int minute = number_of(text.substr(20, 2));
    const int second = number_of(text.substr(23, 2));  // 60 is a leap second.
    if (!date.ok() || hour > 23 || minute > 59 || second > 60) {
        return std::nullopt;
    }
    return Instant{std::chrono::sys_days{date}} + std::chrono::hours{hour} + std::chrono::minutes{minute} +
           std::chrono::seconds{second};
}

}  // namespace

std::optional<Duration> parse_retry_after(std::string_view text, Instant now) {
    constexpr std::size_t kDigitsMax = 9;
    if (!text.empty() && std::all_of(text.begin(), text.end(), is_digit)) {
        text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
        const Duration wait =
            text.size() > kDigitsMax ? kRetryAfterMax : std::chrono::seconds{number_of(text)};
        return std::min(wait, kRetryAfterMax);
    }
    const auto date = parse_date(text);
    return date ? std::optional{std::clamp(*date - now, Duration{0}, kRetryAfterMax)} : std::nullopt;
}

}  // namespace sluice::webhook
