#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::postgres {

// The text of a PostgreSQL array of one dimension, built element by element: for text[] and int8[] alike.
// Whatever a text holds arrives unchanged: quotes, backslashes, braces, commas, nothing at all, the word
// NULL.
class ArrayText {
public:
    ArrayText& add(std::string_view element);
    ArrayText& add(std::int64_t element);
    ArrayText& add_null();

    // "{...}", "{}" without elements.
    [[nodiscard]] std::string text() const { return text_.empty() ? "{}" : text_ + "}"; }

private:
    // What stands before the next element.
    void separate() { text_ += text_.empty() ? '{' : ','; }

    std::string text_;  // Without the closing brace; empty before the first element.
};

// Bytes in the text form of bytea.
std::string bytes_text(std::string_view bytes);

// The parameters $1, $2, ... of a statement, in text format. They are copied.
class Parameters {
public:
    Parameters& add(std::string_view text);
    Parameters& add(std::int64_t number);
    Parameters& add(const ArrayText& array) { return add(std::string_view{array.text()}); }
    Parameters& add_boolean(bool value) { return add(std::string_view{value ? "t" : "f"}); }
    Parameters& add_null();
    Parameters& add_text_array(std::span<const std::string_view> texts);
    Parameters& add_numbers(std::span<const std::int64_t> numbers);

    [[nodiscard]] std::size_t size() const { return starts_.size(); }
    [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }

    // False when a text holds a zero byte: PostgreSQL keeps none, and sending it would cut the text short.
    [[nodiscard]] bool sendable() const { return sendable_; }

    // Each a string that ends with a zero byte, or nullptr for NULL. Valid until this is changed or goes.
    [[nodiscard]] std::vector<const char*> pointers() const;

private:
    std::string bytes_;                // All values, a zero byte after each.
    std::vector<std::size_t> starts_;  // Where each begins in bytes_; kNull for NULL.
    bool sendable_ = true;
};

}  // namespace sluice::postgres
