#include "carry/gateway/message_record.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/escaped_text.hpp"
#include "base/iso8601.hpp"

namespace sluice {
namespace {

using Malformed = Unexpected<std::string>;

constexpr std::string_view kMessageIdHeader = "message-id";
constexpr std::string_view kRequestIdHeader = "request-id";
constexpr std::string_view kWindowStartHeader = "window-start";
constexpr std::string_view kToHeader = "to";
constexpr std::string_view kFromHeader = "from";
constexpr std::string_view kExpiresHeader = "expires";
constexpr std::string_view kSeparator = ": ";
constexpr std::size_t kExcerptMax = 100;

// The beginning of any bytes, as a part of one line.
std::string excerpt(std::string_view bytes) {
    std::string text = "\"";
    const bool whole = append_escaped(text, bytes, kExcerptMax) == bytes.size();
    return text + (whole ? "\"" : "\"...");
}

const std::string* find_header(const kafka::Record& record, std::string_view name) {
    const auto found = std::find_if(record.headers.begin(), record.headers.end(),
                                    [name](const auto& header) { return header.first == name; });
    return found == record.headers.end() ? nullptr : &found->second;
}

std::optional<UserId> read_user(std::string_view digits) {
    UserId user;
    const char* const end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, user.number);
    const bool whole = error == std::errc{} && stopped == end && user.number >= 0;
    return whole && digits.front() != '-' ? std::optional{user} : std::nullopt;
}

MessageId id_of(const kafka::Record& record, const std::string& topic) {
    const std::string* const given = find_header(record, kMessageIdHeader);
    const auto id = given == nullptr ? std::nullopt : MessageId::make(*given);
    // The longest name of a topic would leave no room for its place.
    constexpr std::size_t kTopicMax = 20;
    return id ? *id
              : *MessageId::make(topic.substr(0, kTopicMax) + "-" + std::to_string(record.partition) + "-" +
                                 std::to_string(record.offset));
}

// False: there is a header of this name, and it is no name.
bool read_party(const kafka::Record& record, std::string_view name, std::optional<Party>& party) {
    const std::string* const given = find_header(record, name);
    if (given == nullptr) {
        return true;
    }
    party = Party::make(*given);
    return party.has_value();
}

Result<OutgoingMessage, std::string> read_value(const kafka::Record& record, const std::string& topic) {
    if (!record.value) {
        return Malformed{"it has no value"};
    }
    const std::string_view value = *record.value;
    const std::size_t separator = value.find(kSeparator);
    if (separator == std::string_view::npos) {
        return Malformed{"it is not of the form {userId}: {message}: " + excerpt(value)};
    }
    const auto user = read_user(value.substr(0, separator));
    if (!user) {
        return Malformed{"no user id is at its beginning: " + excerpt(value)};
    }
    const std::string_view text = value.substr(separator + kSeparator.size());
    if (!is_sendable(text)) {
        return Malformed{"its text is blank or too long: " + excerpt(value)};
    }
    return OutgoingMessage{.id = id_of(record, topic), .user = *user, .text = std::string{text}};
}

Result<OutgoingMessage, std::string> read_record(const kafka::Record& record, const std::string& topic) {
    auto message = read_value(record, topic);
    if (!message) {
        return message;
    }
    for (const auto& [name, party] : {std::pair{kToHeader, &message->to}, {kFromHeader, &message->from}}) {
        if (!read_party(record, name, *party)) {
            return Malformed{"its header " + std::string{name} +
                             " is no name: " + excerpt(*find_header(record, name))};
        }
    }
    if (const std::string* const given = find_header(record, kExpiresHeader)) {
        const auto time = parse_instant(*given);
        if (!time) {
            return Malformed{"its header expires is no time: " + excerpt(*given)};
        }
        message->expires = *time;
    }
    return message;
}

}  // namespace

kafka::Message record_of(const OutgoingMessage& message, const std::string& topic) {
    kafka::Message record{.topic = topic,
                          .value = std::to_string(message.user.number).append(kSeparator) + message.text};
    const auto add = [&record](std::string_view name, std::string value) {
        record.headers.emplace_back(name, std::move(value));
    };
    add(kMessageIdHeader, message.id.text());
    if (message.request) {
        add(kRequestIdHeader, message.request->text());
    }
    if (message.window_start) {
        add(kWindowStartHeader, format_instant(*message.window_start));
    }
    if (message.to) {
        add(kToHeader, message.to->text());
    }
    if (message.from) {
        add(kFromHeader, message.from->text());
    }
    if (message.expires) {
        add(kExpiresHeader, format_instant(*message.expires));
    }
    return record;
}

Arrival arrival_of(const kafka::Record& record, const std::string& topic) {
    return {record.partition, record.offset, read_record(record, topic)};
}

}  // namespace sluice
