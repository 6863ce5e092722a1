#include "store/postgres/client/rows.hpp"

#include <cassert>
#include <charconv>

#include <libpq-fe.h>

namespace sluice::postgres {
namespace {

std::optional<std::int64_t> to_number(std::string_view text) {
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

}  // namespace

void Rows::Clear::operator()(pg_result* result) const { PQclear(result); }

Rows::Rows(pg_result* result) : result_{result}, size_{static_cast<std::size_t>(PQntuples(result))} {}

bool Rows::is_null(std::size_t row, std::size_t column) const {
    assert(row < size_);
    return PQgetisnull(result_.get(), static_cast<int>(row), static_cast<int>(column)) != 0;
}

std::string_view Rows::text(std::size_t row, std::size_t column) const {
    assert(row < size_);
    const int at_row = static_cast<int>(row);
    const int at_column = static_cast<int>(column);
    const char* value = PQgetvalue(result_.get(), at_row, at_column);
    if (value == nullptr) {
        return {};
    }
    return {value, static_cast<std::size_t>(PQgetlength(result_.get(), at_row, at_column))};
}

std::optional<std::int64_t> Rows::number(std::size_t row, std::size_t column) const {
    return to_number(text(row, column));
}

std::optional<bool> Rows::boolean(std::size_t row, std::size_t column) const {
    const auto value = text(row, column);
    if (value == "t" || value == "f") {
        return value == "t";
    }
    return std::nullopt;
}

std::int64_t Rows::affected() const {
    return result_ ? to_number(PQcmdTuples(result_.get())).value_or(0) : 0;
}

}  // namespace sluice::postgres
