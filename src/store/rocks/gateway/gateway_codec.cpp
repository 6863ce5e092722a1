#include "store/rocks/gateway/gateway_codec.hpp"

namespace sluice::rocks {
namespace {

std::uint64_t to_number(Instant instant) {
    return static_cast<std::uint64_t>(instant.time_since_epoch().count());
}
Instant to_instant(std::uint64_t number) { return Instant{Duration{static_cast<Duration::rep>(number)}}; }
Instant read_instant(ByteReader& reader) { return to_instant(reader.number<std::uint64_t>()); }

void write_positive(ByteWriter& writer, std::int32_t number) {
    writer.number(static_cast<std::uint32_t>(number));
}
std::int32_t read_positive(ByteReader& reader) {
    return static_cast<std::int32_t>(reader.number<std::uint32_t>());
}

// Absent is a byte that says so.
void write_optional(ByteWriter& writer, const std::optional<Instant>& instant) {
    writer.number(static_cast<std::uint8_t>(instant ? 1 : 0));
    if (instant) {
        writer.number(to_number(*instant));
    }
}
std::optional<Instant> read_optional(ByteReader& reader) {
    return reader.number<std::uint8_t>() == 0 ? std::nullopt : std::optional{read_instant(reader)};
}

// Absent is empty, which no name is.
void write_party(ByteWriter& writer, const std::optional<Party>& party) {
    writer.text(party ? std::string_view{party->text()} : std::string_view{});
}
std::optional<Party> read_party(ByteReader& reader) { return Party::make(reader.text()); }

// What stands behind the version. Nothing when that is not known: its record reads like one that is cut off.
std::string_view rest_of(std::string_view bytes) {
    const Record record = read_record(bytes);
    return record.version == kGatewayRecord ? record.rest : std::string_view{};
}

// Both kinds of rows that are forgotten begin with a time.
std::optional<Instant> first_time(std::string_view bytes) {
    ByteReader reader{rest_of(bytes)};
    const Instant time = read_instant(reader);
    return reader.ok() ? std::optional{time} : std::nullopt;
}

}  // namespace

std::string user_key(UserId user) {
    ByteWriter writer;
    write_positive(writer, user.number);
    return std::move(writer).bytes();
}

std::string encode_user(const UserWindow& window) {
    ByteWriter writer = begin_record(kGatewayRecord);
    write_positive(writer, window.terms.rate_limit);
    write_positive(writer, window.terms.minutes);
    write_positive(writer, window.count);
    writer.number(to_number(window.start));
    return std::move(writer).bytes();
}

std::optional<UserWindow> decode_user(std::string_view bytes) {
    ByteReader reader{rest_of(bytes)};
    UserWindow window;
    window.terms.rate_limit = read_positive(reader);
    window.terms.minutes = read_positive(reader);
    window.count = read_positive(reader);
    window.start = read_instant(reader);
    const bool fits = window.terms.rate_limit >= 1 && window.terms.minutes >= 1 && window.count >= 0;
    return reader.consumed() && fits ? std::optional{window} : std::nullopt;
}

std::string encode_message(const MessageRow& row) {
    ByteWriter writer = begin_record(kGatewayRecord);
    writer.number(to_number(row.story.queued)).number(static_cast<std::uint8_t>(row.story.state));
    write_positive(writer, row.story.user.number);
    writer.number(to_number(row.story.changed))
        .number(to_number(row.window_start))
        .number(row.handed_out)
        .number(static_cast<std::uint8_t>(row.acknowledged ? 1 : 0));
    write_optional(writer, row.expires);
    return std::move(writer).bytes();
}

std::optional<MessageRow> decode_message(std::string_view key, std::string_view bytes) {
    ByteReader reader{rest_of(bytes)};
    auto id = MessageId::make(key);
    if (!id) {
        return std::nullopt;
    }
    MessageRow row{.story = {.id = *std::move(id), .user = {}}};
    row.story.queued = read_instant(reader);
    row.story.state = MessageState{reader.number<std::uint8_t>()};
    row.story.user.number = read_positive(reader);
    row.story.changed = read_instant(reader);
    row.window_start = read_instant(reader);
    row.handed_out = reader.number<std::uint32_t>();
    row.acknowledged = reader.number<std::uint8_t>() != 0;
    row.expires = read_optional(reader);
    const bool fits = row.story.state <= MessageState::Expired && row.story.user.number >= 0;
    return reader.consumed() && fits ? std::optional{std::move(row)} : std::nullopt;
}

std::optional<Instant> message_time(std::string_view bytes) { return first_time(bytes); }

std::string request_key(const RequestKey& key) { return user_key(key.user) + key.request.text(); }

std::string encode_request(const RequestRow& row) {
    ByteWriter writer = begin_record(kGatewayRecord);
    writer.number(to_number(row.at)).text(row.message.text());
    return std::move(writer).bytes();
}

std::optional<RequestRow> decode_request(const RequestKey& key, std::string_view bytes) {
    ByteReader reader{rest_of(bytes)};
    const Instant at = read_instant(reader);
    auto message = MessageId::make(reader.text());
    return reader.consumed() && message ? std::optional{RequestRow{key, *std::move(message), at}}
                                        : std::nullopt;
}

std::optional<Instant> request_time(std::string_view bytes) { return first_time(bytes); }

std::string waiting_key(std::uint64_t number) { return ByteWriter{}.number(number).bytes(); }

std::string encode_waiting(const OutgoingMessage& message) {
    ByteWriter writer = begin_record(kGatewayRecord);
    writer.text(message.id.text());
    write_positive(writer, message.user.number);
    write_party(writer, message.to);
    write_party(writer, message.from);
    write_optional(writer, message.expires);
    static_assert(kMessageBytesMax <= 0xFFFF, "It fits a text.");
    writer.text(message.text);
    return std::move(writer).bytes();
}

std::optional<WaitingMessage> decode_waiting(std::string_view key, std::string_view bytes) {
    ByteReader name{key};
    const auto number = name.number<std::uint64_t>();
    ByteReader reader{rest_of(bytes)};
    auto id = MessageId::make(reader.text());
    if (!id) {
        return std::nullopt;
    }
    OutgoingMessage message{*std::move(id), {}, {}};
    message.user.number = read_positive(reader);
    message.to = read_party(reader);
    message.from = read_party(reader);
    message.expires = read_optional(reader);
    message.text = reader.text();
    return name.consumed() && reader.consumed() ? std::optional{WaitingMessage{number, std::move(message)}}
                                                : std::nullopt;
}

}  // namespace sluice::rocks
