#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/gateway/gateway_tables.hpp"
#include "store/rocks/client/record.hpp"

namespace sluice::rocks {

// How rows of the gateway look on disk. Whoever changes what one holds raises kGatewayRecord and the folder's
// format, and goes on reading all that was written before.
inline constexpr RecordVersion kGatewayRecord = 1;

std::string user_key(UserId user);
std::string encode_user(const UserWindow& window);
std::optional<UserWindow> decode_user(std::string_view bytes);

// Messages stand under their id.
std::string encode_message(const MessageRow& row);
std::optional<MessageRow> decode_message(std::string_view key, std::string_view bytes);
// When it was accepted. Nothing when it is none.
std::optional<Instant> message_time(std::string_view bytes);

std::string request_key(const RequestKey& key);
std::string encode_request(const RequestRow& row);
std::optional<RequestRow> decode_request(const RequestKey& key, std::string_view bytes);
std::optional<Instant> request_time(std::string_view bytes);

// In the outbox by their number.
std::string waiting_key(std::uint64_t number);
std::string encode_waiting(const OutgoingMessage& message);
std::optional<WaitingMessage> decode_waiting(std::string_view key, std::string_view bytes);

}  // namespace sluice::rocks
