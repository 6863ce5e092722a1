#include "store/redis/client/reply.hpp"

#include <new>
#include <vector>

#include <hiredis/hiredis.h>

namespace sluice::redis {

bool ReplyView::is_error() const { return reply_ != nullptr && reply_->type == REDIS_REPLY_ERROR; }

bool ReplyView::is_array() const { return reply_ != nullptr && reply_->type == REDIS_REPLY_ARRAY; }

std::string_view ReplyView::text() const {
    const bool has_text =
        reply_ != nullptr && (reply_->type == REDIS_REPLY_STRING || reply_->type == REDIS_REPLY_STATUS ||
                              reply_->type == REDIS_REPLY_ERROR);
    return has_text ? std::string_view{reply_->str, reply_->len} : std::string_view{};
}

std::int64_t ReplyView::integer() const {
    return reply_ != nullptr && reply_->type == REDIS_REPLY_INTEGER ? reply_->integer : 0;
}

std::size_t ReplyView::size() const { return is_array() ? reply_->elements : 0; }

ReplyView ReplyView::at(std::size_t index) const {
    return ReplyView{reply_->element[index]};  // NOLINT(cppcoreguidelines-pro-bounds-pointer-arithmetic)
}

Reply::~Reply() {
    // freeReplyObject takes what it frees without const.
    freeReplyObject(const_cast<redisReply*>(reply_));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

void append_command(std::string& bytes, std::span<const std::string> words) {
    std::vector<const char*> texts;
    std::vector<std::size_t> lengths;
    texts.reserve(words.size());
    lengths.reserve(words.size());
    for (const std::string& word : words) {
        texts.push_back(word.data());
        lengths.push_back(word.size());
    }
    char* formatted = nullptr;
    const int length =
        redisFormatCommandArgv(&formatted, static_cast<int>(words.size()), texts.data(), lengths.data());
    if (length < 0) {
        throw std::bad_alloc{};
    }
    try {
        bytes.append(formatted, static_cast<std::size_t>(length));
    } catch (...) {
        redisFreeCommand(formatted);
        throw;
    }
    redisFreeCommand(formatted);
}

}  // namespace sluice::redis
