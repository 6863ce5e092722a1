#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

struct pg_result;

namespace sluice::postgres {

// The rows that one statement gave, in text format.
// Thread safety: reading from any thread.
// REQUIRES: row < size() and a column that the statement has.
class Rows {
public:
    Rows() = default;                  // No rows.
    explicit Rows(pg_result* result);  // Takes it over.

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }

    [[nodiscard]] bool is_null(std::size_t row, std::size_t column) const;
    // Valid as long as these Rows are; empty for NULL.
    [[nodiscard]] std::string_view text(std::size_t row, std::size_t column) const;
    // Nothing for NULL and for whatever is not a whole number of 64 bits: never a made-up one.
    [[nodiscard]] std::optional<std::int64_t> number(std::size_t row, std::size_t column) const;
    // Nothing for NULL and for whatever is not a boolean.
    [[nodiscard]] std::optional<bool> boolean(std::size_t row, std::size_t column) const;

    // How many rows an INSERT, UPDATE, DELETE or MERGE changed; for a SELECT how many it gave.
    [[nodiscard]] std::int64_t affected() const;

private:
    struct Clear {
        void operator()(pg_result* result) const;
    };

    std::unique_ptr<pg_result, Clear> result_;
    std::size_t size_ = 0;
};

}  // namespace sluice::postgres
