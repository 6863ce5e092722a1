#include "door/http/target.hpp"

#include <gtest/gtest.h>

#include "door/http/limit_desk.hpp"
#include "door/http/routes.hpp"
#include "door/http/server_desk.hpp"
#include "door/http/slot_desk.hpp"

namespace sluice::http {
namespace {

RouteMatch find_route(std::string_view method, std::string_view target) {
    const std::array tables{RouteTable{slot_routes(), nullptr}, RouteTable{limit_routes(), nullptr},
                            RouteTable{server_routes(), nullptr}};
    static const Router kRouter{tables};
    return kRouter.find(method, target);
}

TEST(Target, SplitsBeforeItDecodes) {
    const auto target = parse_target("/api/a%2Fb/c?from=2025-06-01T12:00:00+05:30&x=%20y&flag");

    ASSERT_TRUE(target.has_value());
    EXPECT_EQ(target->segments, (std::vector<std::string>{"api", "a/b", "c"}));
    EXPECT_EQ(target->parameter("from"), "2025-06-01T12:00:00+05:30");
    EXPECT_EQ(target->parameter("x"), " y");
    EXPECT_EQ(target->parameter("flag"), "");
    EXPECT_EQ(target->parameter("missing"), std::nullopt);
}

TEST(Target, TakesTheAbsoluteForm) {
    EXPECT_EQ(path_of("http://host:8080/healthz?x=1"), "/healthz");
    EXPECT_EQ(path_of("http://host"), "/");
}

TEST(Target, RefusesBrokenEncodingsAndRepeatedParameters) {
    for (const char* bad : {"/%", "/%4", "/%zz", "/a?x=%g1", "/a?x=1&x=2", "a", ""}) {
        EXPECT_FALSE(parse_target(bad).has_value()) << bad;
    }
}

TEST(Routes, AreFoundByPathAndMethod) {
    EXPECT_EQ(find_route("POST", "/api/v1/slots/batch?x=1").route->path, "/api/v1/slots/batch");
    EXPECT_EQ(find_route("GET", "/api/v1/slots/batch").capture, "batch");
    EXPECT_EQ(find_route("GET", "/api/v1/slots/a%2Fb").capture, "a/b");
    EXPECT_EQ(find_route("HEAD", "/healthz").route->path, "/healthz");
    EXPECT_EQ(find_route("POST", "/api/v1/slots/x/move").capture, "x");
}

TEST(Routes, OfAPathThatIsSpelledOutAllowOnlyItsOwnMethods) {
    EXPECT_EQ(find_route("OPTIONS", "/api/v1/slots/batch").allowed, "POST");
    EXPECT_EQ(find_route("PATCH", "/api/v1/slots/pay-1").allowed, "GET, HEAD, DELETE");
}

TEST(Routes, HaveAFrontPage) {
    ASSERT_NE(find_route("GET", "/").route, nullptr);
    EXPECT_EQ(find_route("GET", "/").route->path, "/");
}

TEST(Routes, OfAPathThatIsNoneAreNotFound) {
    for (const char* path : {"/nowhere", "/x", "//", "/api/v1/slots/", "/api/v1/slots//move", "/healthz/",
                             "/api/v1/slots/a/b/c"}) {
        const RouteMatch match = find_route("GET", path);
        EXPECT_EQ(match.route, nullptr) << path;
        EXPECT_TRUE(match.allowed.empty()) << path;
    }
}

}  // namespace
}  // namespace sluice::http
