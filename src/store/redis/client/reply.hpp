#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

struct redisReply;

namespace sluice::redis {

// What a server answered, or one element of it. What is asked of a reply of another type is empty or 0.
class ReplyView {
public:
    explicit ReplyView(const redisReply* reply) : reply_{reply} {}

    [[nodiscard]] bool is_error() const;
    [[nodiscard]] bool is_array() const;
    [[nodiscard]] std::string_view text() const;  // Of strings, statuses and errors.
    [[nodiscard]] std::int64_t integer() const;
    [[nodiscard]] std::size_t size() const;  // How many elements an array has.
    // REQUIRES: index < size().
    [[nodiscard]] ReplyView at(std::size_t index) const;

    // Whether it is an error with this first word.
    [[nodiscard]] bool is_error(std::string_view code) const {
        return is_error() && (text() == code || (text().starts_with(code) && text()[code.size()] == ' '));
    }

protected:
    const redisReply* reply_;
};

// Owns a whole reply.
class Reply : public ReplyView {
public:
    // Takes the reply over.
    explicit Reply(redisReply* reply) : ReplyView{reply} {}
    Reply(Reply&& other) noexcept : ReplyView{std::exchange(other.reply_, nullptr)} {}
    Reply& operator=(Reply&& other) noexcept {
        std::swap(reply_, other.reply_);
        return *this;
    }
    Reply(const Reply&) = delete;
    Reply& operator=(const Reply&) = delete;
    ~Reply();
};

// Appends a command to what is to be sent.
void append_command(std::string& bytes, std::span<const std::string> words);

}  // namespace sluice::redis
