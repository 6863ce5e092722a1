#include "base/iso8601.hpp"

#include <cstdint>
#include <optional>

namespace sluice {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Consumes text from the front; every reader says whether it matched.
class Cursor {
public:
    explicit Cursor(std::string_view text) : rest_{text} {}

    [[nodiscard]] bool at_end() const { return rest_.empty(); }
    [[nodiscard]] char peek() const { return rest_.empty() ? '\0' : rest_.front(); }

    bool skip(char wanted) {
        if (peek() != wanted || rest_.empty()) {
            return false;
        }
        rest_.remove_prefix(1);
        return true;
    }

    bool skip_any_case(char upper) { return skip(upper) || skip(static_cast<char>(upper - 'A' + 'a')); }

    // Exactly `width` digits.
    std::optional<int> number(std::size_t width) {
        const std::string_view taken = digits();
        if (taken.size() < width) {
            return std::nullopt;
        }
        int value = 0;
        for (const char c : taken.substr(0, width)) {
            value = value * 10 + (c - '0');
        }
        rest_.remove_prefix(width);
        return value;
    }

    // The run of digits in front, not consumed.
    [[nodiscard]] std::string_view digits() const {
        std::size_t length = 0;
        while (length < rest_.size() && is_digit(rest_[length])) {
            ++length;
        }
        return rest_.substr(0, length);
    }

    void drop(std::size_t count) { rest_.remove_prefix(count); }

private:
    std::string_view rest_;
};

struct Fraction {
    Duration whole_ms{};
    bool finer = false;  // Something below a millisecond follows.
};

// The digits behind the point.
std::optional<Fraction> read_fraction(Cursor& cursor) {
    const std::string_view digits = cursor.digits();
    if (digits.empty()) {
        return std::nullopt;
    }
    int millis = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        millis = millis * 10 + (i < digits.size() ? digits[i] - '0' : 0);
    }
    const bool finer = digits.find_first_not_of('0', 3) != std::string_view::npos;
    cursor.drop(digits.size());
    return Fraction{Duration{millis}, finer};
}

std::optional<std::chrono::sys_days> read_date(Cursor& cursor) {
    const auto year = cursor.number(4);
    if (!year || !cursor.skip('-')) {
        return std::nullopt;
    }
    const auto month = cursor.number(2);
    if (!month || !cursor.skip('-')) {
        return std::nullopt;
    }
    const auto day = cursor.number(2);
    if (!day) {
        return std::nullopt;
    }
    const std::chrono::year_month_day date{std::chrono::year{*year},
                                           std::chrono::month{static_cast<unsigned>(*month)},
                                           std::chrono::day{static_cast<unsigned>(*day)}};
    return date.ok() ? std::optional{std::chrono::sys_days{date}} : std::nullopt;
}

std::optional<Duration> read_time_of_day(Cursor& cursor) {
    const auto hour = cursor.number(2);
    if (!hour || *hour > 23 || !cursor.skip(':')) {
        return std::nullopt;
    }
    const auto minute = cursor.number(2);
    if (!minute || *minute > 59 || !cursor.skip(':')) {
        return std::nullopt;
    }
    const auto second = cursor.number(2);
    if (!second || *second > 59) {
        return std::nullopt;
    }
    Duration result = hours{*hour} + minutes{*minute} + seconds{*second};
    if (cursor.skip('.')) {
        const auto fraction = read_fraction(cursor);
        if (!fraction) {
            return std::nullopt;
        }
        result += fraction->whole_ms + Duration{fraction->finer ? 1 : 0};
    }
    return result;
}

std::optional<Duration> read_offset(Cursor& cursor) {
    if (cursor.skip_any_case('Z')) {
        return Duration{0};
    }
    const bool negative = cursor.peek() == '-';
    if (!cursor.skip('+') && !cursor.skip('-')) {
        return std::nullopt;
    }
    const auto hour = cursor.number(2);
    if (!hour || *hour > 23 || !cursor.skip(':')) {
        return std::nullopt;
    }
    const auto minute = cursor.number(2);
    if (!minute || *minute > 59) {
        return std::nullopt;
    }
    const Duration offset = hours{*hour} + minutes{*minute};
    return negative ? -offset : offset;
}

// One "12H"-like part of a duration.
struct Part {
    Duration length{};
    char unit = '\0';
    bool fractional = false;
    bool finer = false;
};

std::optional<Duration> unit_length(char unit, bool in_time) {
    if (in_time) {
        switch (unit) {
            case 'H': return hours{1};
            case 'M': return minutes{1};
            case 'S': return seconds{1};
            default: return std::nullopt;
        }
    }
    return unit == 'D' ? std::optional<Duration>{days{1}} : std::nullopt;
}

std::optional<Part> read_part(Cursor& cursor, bool in_time) {
    const std::string_view digits = cursor.digits();
    // Ten digits of the largest unit still fit 64 bits, and lie far beyond what is accepted.
    if (digits.empty() || digits.size() > 10) {
        return std::nullopt;
    }
    std::int64_t count = 0;
    for (const char c : digits) {
        count = count * 10 + (c - '0');
    }
    cursor.drop(digits.size());
    Part part;
    Duration fraction{};
    if (cursor.skip('.')) {
        const auto read = read_fraction(cursor);
        if (!read) {
            return std::nullopt;
        }
        part.fractional = true;
        part.finer = read->finer;
        fraction = read->whole_ms;
    }
    part.unit = cursor.peek();
    const auto unit = unit_length(part.unit, in_time);
    if (!unit || (part.fractional && part.unit != 'S')) {
        return std::nullopt;
    }
    cursor.drop(1);
    part.length = *unit * count + fraction;
    return part;
}

}  // namespace

Result<Instant, TimeError> parse_instant(std::string_view text) {
    constexpr Unexpected kMalformed{TimeError::Malformed};
    if (text.size() > 64) {
        return kMalformed;
    }
    Cursor cursor{text};
    const auto date = read_date(cursor);
    if (!date || !cursor.skip_any_case('T')) {
        return kMalformed;
    }
    const auto time = read_time_of_day(cursor);
    if (!time) {
        return kMalformed;
    }
    const auto offset = read_offset(cursor);
    if (!offset || !cursor.at_end()) {
        return kMalformed;
    }
    const Instant instant = *date + *time - *offset;
    if (instant < kEpoch) {
        return Unexpected{TimeError::OutOfRange};
    }
    return instant;
}

std::string format_instant(Instant instant) {
    const auto day = std::chrono::floor<days>(instant);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss time{instant - day};
    std::string text = "0000-00-00T00:00:00.000Z";
    // Digits from the right: this is on the path of every answer, where printf is too slow.
    const auto write = [&text](std::size_t end, std::int64_t number, int digits) {
        for (int i = 0; i < digits; ++i, number /= 10) {
            text[--end] = static_cast<char>('0' + number % 10);
        }
    };
    write(4, static_cast<int>(date.year()), 4);
    write(7, static_cast<unsigned>(date.month()), 2);
    write(10, static_cast<unsigned>(date.day()), 2);
    write(13, time.hours().count(), 2);
    write(16, time.minutes().count(), 2);
    write(19, time.seconds().count(), 2);
    write(23, time.subseconds().count(), 3);
    return text;
}

Result<Duration, DurationError> parse_duration(std::string_view text) {
    constexpr Unexpected kMalformed{DurationError::Malformed};
    Cursor cursor{text};
    const bool negative = cursor.skip('-');
    if (text.size() > 64 || !cursor.skip('P')) {
        return kMalformed;
    }
    constexpr std::string_view kOrder = "DHMS";  // Each unit once, from the largest down.
    std::size_t next_unit = 0;
    bool in_time = false;
    bool finer = false;
    Duration total{};
    bool any = false;
    while (!cursor.at_end()) {
        if (!in_time && cursor.skip('T')) {
            in_time = true;
            any = false;  // "P1DT" names no time.
            continue;
        }
        const auto part = read_part(cursor, in_time);
        if (!part) {
            return kMalformed;
        }
        const std::size_t position = kOrder.find(part->unit, next_unit);
        if (position == std::string_view::npos) {
            return kMalformed;
        }
        next_unit = position + 1;
        any = true;
        finer = finer || part->finer;
        total += part->length;
    }
    if (!any) {
        return kMalformed;
    }
    if (negative || finer || total <= Duration{0} || total > kDurationMax) {
        return Unexpected{DurationError::OutOfRange};
    }
    return total;
}

std::string format_duration(Duration duration) {
    const auto day = std::chrono::floor<days>(duration);
    const std::chrono::hh_mm_ss time{duration - day};
    std::string text = "P";
    const auto append = [&text](std::int64_t count, char unit) {
        if (count != 0) {
            text += std::to_string(count) + unit;
        }
    };
    append(day.count(), 'D');
    if (duration == day && day.count() != 0) {
        return text;
    }
    text += 'T';
    append(time.hours().count(), 'H');
    append(time.minutes().count(), 'M');
    if (const auto millis = time.subseconds().count(); millis != 0) {
        std::string fraction = std::to_string(1000 + millis).substr(1);
        fraction.erase(fraction.find_last_not_of('0') + 1);
        text += std::to_string(time.seconds().count()) + '.' + fraction + 'S';
    } else {
        append(time.seconds().count(), 'S');
    }
    return text.back() == 'T' ? text + "0S" : text;
}

}  // namespace sluice
