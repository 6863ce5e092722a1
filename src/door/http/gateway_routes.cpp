#include <algorithm>
#include <array>

#include "door/http/gateway_desk.hpp"
#include "door/http/gateway_words.hpp"

namespace sluice::http {
namespace {

struct Words {
    std::string_view code;
    std::string_view text;
};
constexpr std::array kWords{
    Words{"invalid_arguments", "Missing/Invalid Arguments"},
    Words{"user_not_found", "User Not Found"},
    Words{"message_not_found", "Message Not Found"},
    Words{"rate_limit_exceeded", "Rate Limit Exceeded"},
    Words{"store_unavailable", "Postgres Down : Service Unavailable"},
    Words{"publisher_unavailable", "Kafka Down : Service Unavailable"},
    Words{"overloaded", "Overloaded : Service Unavailable"},
    Words{"internal_error", "Internal Server Error"},
};

constexpr Route exact(Route route) {
    route.error_text = gateway_words;
    return route;
}

constexpr std::string_view kTroubles = "store_unavailable overloaded";
constexpr std::string_view kText = "text/plain; charset=utf-8";

constexpr std::array kSetUser{
    gives(200, "GatewayUser"),
    refuses(400, "invalid_arguments"),
    refuses(503, kTroubles),
};
constexpr std::array kGetUser{
    gives(200, "GatewayUser"),
    refuses(400, "invalid_arguments"),
    refuses(404, "user_not_found"),
    refuses(503, kTroubles),
};
constexpr std::array kSend{
    with("Message-Id", gives(200, "SentText", kText)),
    refuses(400, "invalid_arguments"),
    refuses(404, "user_not_found"),
    refuses(429, "rate_limit_exceeded"),
    with("Message-Id", refuses(503, "store_unavailable publisher_unavailable overloaded")),
};
constexpr std::array kGetMessage{
    gives(200, "GatewayMessage"),
    refuses(404, "message_not_found"),
    refuses(503, kTroubles),
};

constexpr std::array kRoutes{
    exact(guarded({"POST", "/api/config", "setUser", on<set_user>(), kSetUser, json_body("UserDraft")})),
    exact({"GET", "/api/config/{userId}", "getUser", on<get_user>(), kGetUser}),
    exact({"POST", "/api/send", "sendMessage", on<send_message>(), kSend, json_body("MessageDraft")}),
    exact({"GET", "/api/messages/{messageId}", "getMessage", on<get_message>(), kGetMessage}),
};

}  // namespace

std::string_view gateway_words(const Problem& problem) {
    const auto* const words = std::ranges::find(kWords, problem.code, &Words::code);
    return words == kWords.end() ? reason_phrase(problem.status) : words->text;
}

std::span<const Route> gateway_routes() { return kRoutes; }

}  // namespace sluice::http
