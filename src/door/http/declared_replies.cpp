#include "door/http/declared_replies.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace sluice::http {
namespace {

constexpr std::array kToAnyRequest{
    refuses(400, "malformed_request tls_required"),
    refuses(408, "request_timeout"),
    refuses(414, "uri_too_long"),
    refuses(431, "headers_too_large"),
    refuses(501, "encoding_not_supported"),
    refuses(503, "overloaded"),
    refuses(505, "version_not_supported"),
};
constexpr std::array kWithoutARoute{
    refuses(404, "not_found"),
    with("Allow", refuses(405, "method_not_allowed")),
};
constexpr std::array kWithoutAToken{
    with("WWW-Authenticate", refuses(401, "token_required")),
    refuses(403, "foreign_host"),
    refuses(429, "too_many_tries"),
};
constexpr Reply kTooLarge = refuses(413, "body_too_large");
constexpr Reply kWrongType = refuses(415, "type_not_supported content_encoding_not_supported");
constexpr Reply kWrongEncoding = refuses(415, "content_encoding_not_supported");
constexpr Reply kFault = refuses(500, "internal_error");

bool has_word(std::string_view list, std::string_view word) {
    bool found = false;
    for_each_word(list, [&](std::string_view one) { found = found || one == word; });
    return found;
}

bool covers(const Reply& reply, unsigned status, std::string_view code) {
    const bool tells_a_problem = reply.schema.empty() && !reply.codes.empty();
    return reply.status == status && (tells_a_problem ? has_word(reply.codes, code) : code.empty());
}

}  // namespace

std::vector<Reply> door_replies(const Route* route) {
    std::vector<Reply> replies{kToAnyRequest.begin(), kToAnyRequest.end()};
    if (route == nullptr) {
        replies.insert(replies.end(), kWithoutARoute.begin(), kWithoutARoute.end());
        return replies;
    }
    if (route->access == Access::Admin) {
        replies.insert(replies.end(), kWithoutAToken.begin(), kWithoutAToken.end());
    }
    if (route->body.kind != BodyKind::None) {
        replies.push_back(route->body.kind == BodyKind::Lines ? kWrongEncoding : kWrongType);
    }
    if (!std::holds_alternative<StreamHandler>(route->handler)) {
        replies.push_back(kTooLarge);
        replies.push_back(kFault);
    }
    return replies;
}

bool is_declared(const Route* route, unsigned status, std::string_view code) {
    const auto covered = [&](const Reply& reply) { return covers(reply, status, code); };
    return std::ranges::any_of(door_replies(route), covered) ||
           (route != nullptr && std::ranges::any_of(route->replies, covered));
}

#ifndef NDEBUG
void expect_declared(const Route* route, const Response& response) {
    if (is_declared(route, response.status, response.code)) {
        return;
    }
    const std::string_view operation = route == nullptr ? "the door, without a route," : route->operation;
    std::fprintf(stderr, "Undeclared answer: %.*s gave %u %.*s, which its table of routes does not name.\n",
                 static_cast<int>(operation.size()), operation.data(), response.status,
                 static_cast<int>(response.code.size()), response.code.data());
    std::abort();
}
#endif

}  // namespace sluice::http
