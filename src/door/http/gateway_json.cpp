#include "door/http/gateway_json.hpp"

#include <charconv>

#include "base/iso8601.hpp"
#include "base/json_text.hpp"
#include "door/http/json_fields.hpp"

namespace sluice::http {
namespace {

namespace json = boost::json;

std::optional<std::int32_t> read_number(const json::object& body, std::string_view field,
                                        IntegerRange range) {
    const auto number = read_integer(body, field, range);
    return number && *number ? std::optional{static_cast<std::int32_t>(**number)} : std::nullopt;
}

// A text that may be absent. False: it is there, and is none or cannot be such a name.
template <class Name>
bool read_name(const json::object& body, std::string_view field, std::optional<Name>& name) {
    const json::value* value = body.if_contains(field);
    if (value == nullptr) {
        return true;
    }
    if (const auto* text = value->if_string()) {
        name = Name::make(view(*text));
    }
    return name.has_value();
}

bool read_request(const json::object& body, std::string_view key, std::optional<RequestId>& request) {
    if (!read_name(body, "requestId", request)) {
        return false;
    }
    if (key.empty()) {
        return true;
    }
    const auto named = RequestId::make(key);
    const bool agrees = named && (!request || *request == *named);
    request = named;
    return agrees;
}

// What is not built must not be accepted and ignored.
bool asks_to_defer(const json::object& body) {
    const json::value* value = body.if_contains("defer");
    return value != nullptr && (!value->is_bool() || value->get_bool());
}

bool has_another_algorithm(const json::object& body) {
    const json::value* value = body.if_contains("algorithm");
    return value != nullptr && (!value->is_string() || value->get_string() != "fixed");
}

}  // namespace

std::optional<UserDraft> read_user(const json::object& body) {
    const auto user = read_number(body, "userId", {0, kUserIdMax});
    const auto limit = read_number(body, "rateLimit", {1, kUserTermMax});
    const auto minutes = read_number(body, "timeWindow", {1, kUserTermMax});
    if (!user || !limit || !minutes || has_another_algorithm(body)) {
        return std::nullopt;
    }
    return UserDraft{{*user}, {*limit, *minutes}};
}

std::optional<MessageDraft> read_message(const json::object& body, std::string_view key) {
    const auto user = read_number(body, "userId", {0, kUserIdMax});
    const json::value* const message = body.if_contains("message");
    const auto* const text = message == nullptr ? nullptr : message->if_string();
    if (!user || text == nullptr || !is_sendable(view(*text)) || asks_to_defer(body)) {
        return std::nullopt;
    }
    MessageDraft draft{{*user}, std::string{view(*text)}};
    const auto validity = read_duration(body, "validity");
    if (!validity || !read_name(body, "to", draft.to) || !read_name(body, "from", draft.from) ||
        !read_request(body, key, draft.request)) {
        return std::nullopt;
    }
    draft.validity = *validity;
    return draft;
}

std::optional<UserId> read_user_id(std::string_view digits) {
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool fits = error == std::errc{} && end == digits.data() + digits.size() && digits.front() != '-';
    return fits ? std::optional{UserId{number}} : std::nullopt;
}

std::string user_json(UserId user, const UserWindow& window) {
    return JsonObject{}
        .number("userId", user.number)
        .number("rateLimit", window.terms.rate_limit)
        .number("timeWindow", window.terms.minutes)
        .number("currentCount", window.count)
        .text("lastRefreshTime", format_instant(window.start))
        .done();
}

std::string message_json(const MessageStory& story) {
    JsonObject times;
    times.text("queued", format_instant(story.queued));
    if (story.state != MessageState::Queued) {
        times.text(name_of(story.state), format_instant(story.changed));
    }
    return JsonObject{}
        .text("messageId", story.id.text())
        .number("userId", story.user.number)
        .text("state", name_of(story.state))
        .raw("times", times.done())
        .done();
}

}  // namespace sluice::http
