// What a route may answer, and what becomes of an answer that it may not give.
#include "door/http/declared_replies.hpp"

#include <gtest/gtest.h>

#include "door/http/response_text.hpp"

namespace sluice::http {
namespace {

Response nothing(const Desk& /*desk*/, const Request& /*request*/) { return {}; }

constexpr std::array kReplies{
    gives(200, "Thing"),
    refuses(404, "thing_not_found"),
    refuses(409, "thing_in_use thing_locked"),
    gives(429, "Thing"),
};
constexpr Route kOpen{"GET", "/things/{name}", "getThing", nothing, kReplies};
constexpr Route kWithBody{"PUT", "/things/{name}", "putThing", nothing, kReplies, json_body("Thing")};

std::string sent(const Response& response, const Route* route) {
    std::string out;
    append_response(out, response, {"", After::Close, false, false, route});
    return out;
}

TEST(DeclaredReplies, AreTheStatusesOfTheTable) {
    EXPECT_TRUE(is_declared(&kOpen, 200, ""));
    EXPECT_FALSE(is_declared(&kOpen, 204, ""));
    EXPECT_TRUE(is_declared(&kOpen, 429, ""));
}

TEST(DeclaredReplies, NameEveryCodeOfAProblem) {
    EXPECT_TRUE(is_declared(&kOpen, 409, "thing_in_use"));
    EXPECT_TRUE(is_declared(&kOpen, 409, "thing_locked"));
    EXPECT_FALSE(is_declared(&kOpen, 409, "thing"));
    EXPECT_FALSE(is_declared(&kOpen, 409, ""));
    EXPECT_FALSE(is_declared(&kOpen, 404, "thing_locked"));
}

TEST(DeclaredReplies, AreCompletedByWhatTheDoorAnswersForTheRoute) {
    EXPECT_TRUE(is_declared(&kOpen, 400, "tls_required"));
    EXPECT_TRUE(is_declared(&kOpen, 500, "internal_error"));
    EXPECT_FALSE(is_declared(&kOpen, 401, "token_required"));
    EXPECT_FALSE(is_declared(&kOpen, 415, "type_not_supported"));

    const Route admin = guarded(kWithBody);
    EXPECT_TRUE(is_declared(&admin, 401, "token_required"));
    EXPECT_TRUE(is_declared(&admin, 415, "type_not_supported"));
}

TEST(DeclaredReplies, AreTheDoorsOwnWhereThereIsNoRoute) {
    EXPECT_TRUE(is_declared(nullptr, 404, "not_found"));
    EXPECT_FALSE(is_declared(&kOpen, 404, "not_found"));
    EXPECT_FALSE(is_declared(nullptr, 200, ""));
}

TEST(DeclaredRepliesDeathTest, EndTheProcessAtAnAnswerThatIsNotAmongThem) {
    EXPECT_EQ(sent({200}, &kOpen).substr(0, 15), "HTTP/1.1 200 OK");
    EXPECT_DEATH(sent({202}, &kOpen), "Undeclared answer: getThing gave 202");
    EXPECT_DEATH(sent(answer({409, "cancelled", "It was."}), &kOpen),
                 "Undeclared answer: getThing gave 409 cancelled");
    EXPECT_DEATH(sent({200}, nullptr), "Undeclared answer: the door, without a route, gave 200");
}

TEST(Problems, AreToldInTheWordsOfARouteThatHasItsOwn) {
    const auto words = [](const Problem& problem) -> std::string_view {
        return problem.status == 503 ? "Overloaded : Service Unavailable" : "Missing/Invalid Arguments";
    };

    const Response busy = answer({503, "overloaded", "Try again."}, words);

    EXPECT_EQ(busy.content_type, "text/plain; charset=utf-8");
    EXPECT_EQ(busy.body, "Overloaded : Service Unavailable");
    EXPECT_EQ(busy.headers, "Retry-After: 1\r\n");
    EXPECT_EQ(busy.code, "overloaded");
}

}  // namespace
}  // namespace sluice::http
