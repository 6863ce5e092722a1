#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "store/postgres/client/rows.hpp"

namespace sluice::postgres {

// Reads the columns of a row from left to right, and remembers whether all of them could be read.
class RowReader {
public:
    RowReader(const Rows& rows, std::size_t row, std::size_t column = 0)
        : rows_{rows}, row_{row}, column_{column} {}

    std::int64_t number() {
        const auto value = rows_.number(row_, column_++);
        whole_ = whole_ && value;
        return value.value_or(0);
    }
    template <class Number>
    Number number_as() {
        return static_cast<Number>(number());
    }
    std::optional<std::int64_t> number_if_any() {
        return next_is_null() ? (++column_, std::nullopt) : std::optional{number()};
    }
    template <class Name>
    std::optional<Name> name() {
        auto value = Name::make(rows_.text(row_, column_++));
        whole_ = whole_ && value;
        return value;
    }
    // Empty for NULL.
    std::string text() { return std::string{rows_.text(row_, column_++)}; }
    // Of hexadecimal digits.
    std::string bytes();
    Instant instant() { return Instant{Duration{number()}}; }
    std::optional<Duration> duration_if_any() {
        const auto value = number_if_any();
        return value ? std::optional{Duration{*value}} : std::nullopt;
    }
    std::optional<Instant> instant_if_any() {
        const auto value = number_if_any();
        return value ? std::optional{Instant{Duration{*value}}} : std::nullopt;
    }
    // The numbers of an array as text, "{1,2}". Nothing for NULL.
    std::optional<std::vector<std::int64_t>> numbers_if_any();

    [[nodiscard]] bool next_is_null() const { return rows_.is_null(row_, column_); }
    [[nodiscard]] bool whole() const { return whole_; }

private:
    const Rows& rows_;
    std::size_t row_;
    std::size_t column_;
    bool whole_ = true;
};

}  // namespace sluice::postgres
