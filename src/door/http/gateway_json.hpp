#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "core/gateway/message.hpp"

// Bodies of the gateway. Fields that are not known are ignored here, and every fault has the same answer:
// what is not as it must be reads as nothing.
namespace sluice::http {

struct UserDraft {
    UserId user;
    UserTerms terms;
};
std::optional<UserDraft> read_user(const boost::json::object& body);

// `key` is the header Idempotency-Key; empty: there is none. It and requestId must not differ.
std::optional<MessageDraft> read_message(const boost::json::object& body, std::string_view key);

// Digits that stand in a path.
std::optional<UserId> read_user_id(std::string_view digits);

std::string user_json(UserId user, const UserWindow& window);
std::string message_json(const MessageStory& story);

}  // namespace sluice::http
