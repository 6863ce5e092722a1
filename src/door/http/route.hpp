#pragma once

#include <array>
#include <span>
#include <string_view>
#include <variant>

#include "door/http/exchange.hpp"

namespace sluice::http {

inline constexpr std::size_t kBodyBytesMax = 64 * 1024;
inline constexpr std::size_t kBatchBytesMax = 16 * 1024 * 1024;

enum class Access { Open, Admin };
enum class BodyKind { None, Json, Lines };

// What a route takes. Lines are of any number; a stream reads them while they arrive.
struct RouteBody {
    BodyKind kind = BodyKind::None;
    std::string_view schema{};  // Its name in the fragment of the part.
    std::size_t max = kBodyBytesMax;
};

constexpr RouteBody json_body(std::string_view schema, std::size_t max = kBodyBytesMax) {
    return {BodyKind::Json, schema, max};
}
constexpr RouteBody lines_body(std::string_view schema) { return {BodyKind::Lines, schema}; }

// One status that a route gives. A status may stand in several of them, which then hold together.
struct Reply {
    unsigned status;
    std::string_view schema{};   // Of the body; its name in the fragment of the part. Empty: see codes.
    std::string_view type{};     // Of the body.
    std::string_view codes{};    // With a schema: of refused members. Without: of problems. Split by spaces.
    std::string_view headers{};  // Split by spaces. Retry-After need not be named.
};

constexpr Reply gives(unsigned status, std::string_view schema, std::string_view type = "application/json") {
    return {status, schema, type};
}
constexpr Reply gives_nothing(unsigned status) { return {status}; }
constexpr Reply refuses(unsigned status, std::string_view codes) {
    return {status, {}, "application/problem+json", codes};
}
// The same with headers.
constexpr Reply with(std::string_view headers, Reply reply) {
    reply.headers = headers;
    return reply;
}
// Members of the answer may be refused for these.
constexpr Reply among(std::string_view codes, Reply reply) {
    reply.codes = codes;
    return reply;
}

// All that the door knows of a route. The same table finds the route, guards it and makes its description in
// openapi.json; builds with asserts end at an answer that is not declared here (declared_replies.hpp).
struct Route {
    std::string_view method;
    std::string_view path;       // At most one segment is a {place}.
    std::string_view operation;  // Its name in openapi.json, and of its prose in the fragment of the part.
    std::variant<QuickHandler, WaitingHandler, StreamHandler> handler;
    std::span<const Reply> replies;  // Beside what the door itself answers.
    RouteBody body{};
    Access access = Access::Open;
    bool tells_who = false;          // Its handler learns who asks. Guarded ones always do.
    ErrorText error_text = nullptr;  // Null: application/problem+json.
};

constexpr Route guarded(Route route) {
    route.access = Access::Admin;
    route.tells_who = true;
    return route;
}
constexpr Route telling_who(Route route) {
    route.tells_who = true;
    return route;
}

}  // namespace sluice::http
