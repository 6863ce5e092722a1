// The table of bad input for limits: what each gets, and that it charges nothing.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/limit_door.hpp"

namespace sluice::test {
namespace {

struct BadCase {
    std::string what;
    std::string body;
    int status;
    std::string code;
};

std::string with_tokens(const std::string& tokens) {
    return R"({"key":"k","plans":["daily","gold"],"tokens":)" + tokens + "}";
}
std::string with_key(const std::string& key) { return R"({"key":)" + key + R"(,"plans":["gold"]})"; }
std::string with_plans(const std::string& plans) { return R"({"key":"k","plans":)" + plans + "}"; }

std::vector<BadCase> cases() {
    std::string many = "[";
    for (int i = 0; i < 17; ++i) {
        many += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + "\"";
    }
    return {
        {"an empty body", "", 400, "malformed_json"},
        {"an array", "[]", 400, "malformed_json"},
        {"a repeated field", R"({"key":"k","key":"k","plans":["gold"]})", 400, "malformed_json"},
        {"no key", R"({"plans":["gold"]})", 400, "invalid_key"},
        {"an empty key", with_key(R"("")"), 400, "invalid_key"},
        {"a key that is a number", with_key("7"), 400, "invalid_key"},
        {"a key that is null", with_key("null"), 400, "invalid_key"},
        {"a key of 257 bytes", with_key('"' + std::string(257, 'k') + '"'), 400, "invalid_key"},
        {"a line feed in the key", with_key(R"("a\nb")"), 400, "invalid_key"},
        {"NUL in the key", with_key(R"("a\u0000b")"), 400, "invalid_key"},
        {"DEL in the key", with_key(R"("a\u007fb")"), 400, "invalid_key"},
        {"a C1 control in the key", with_key(R"("a\u0085b")"), 400, "invalid_key"},
        {"invalid UTF-8 in the key", with_key("\"\xff\""), 400, "malformed_json"},
        {"no plans", R"({"key":"k"})", 400, "invalid_plans"},
        {"plans that are one", with_plans(R"("gold")"), 400, "invalid_plans"},
        {"an empty list of plans", with_plans("[]"), 400, "invalid_plans"},
        {"17 plans", with_plans(many + "]"), 400, "invalid_plans"},
        {"a plan that is a number", with_plans("[7]"), 400, "invalid_plans"},
        {"a plan twice", with_plans(R"(["gold","gold"])"), 400, "invalid_plans"},
        {"an unknown plan", with_plans(R"(["gold","nope"])"), 404, "plan_not_found"},
        {"an empty plan", with_plans(R"([""])"), 404, "plan_not_found"},
        {"a plan with a quote", with_plans(R"(["a\"b"])"), 404, "plan_not_found"},
        {"negative tokens", with_tokens("-1"), 400, "invalid_tokens"},
        {"tokens above the capacity", with_tokens("4"), 400, "invalid_tokens"},
        {"tokens above every number", with_tokens("9223372036854775807"), 400, "invalid_tokens"},
        {"tokens beyond 64 bits", with_tokens("18446744073709551616"), 400, "invalid_tokens"},
        {"tokens with a fraction", with_tokens("1.5"), 400, "invalid_tokens"},
        {"tokens as 1.0", with_tokens("1.0"), 400, "invalid_tokens"},
        {"tokens as 1e0", with_tokens("1e0"), 400, "invalid_tokens"},
        {"tokens as text", with_tokens(R"("1")"), 400, "invalid_tokens"},
        {"tokens as null", with_tokens("null"), 400, "invalid_tokens"},
        {"tokens as NaN", with_tokens("NaN"), 400, "invalid_number"},
    };
}

class BadLimitInput : public LimitDoor {
protected:
    std::string state() const { return get("/admin/keys/k").body + get("/admin/plans").body; }
};

TEST_F(BadLimitInput, IsRefusedAndChargesNothing) {
    ASSERT_EQ(check("k", R"(["daily"])", R"(,"tokens":5)").status, 200);
    const std::string before = state();

    for (const char* path : {"/api/v1/check", "/api/v1/refund"}) {
        for (const BadCase& bad : cases()) {
            SCOPED_TRACE(std::string{path} + ": " + bad.what);
            const auto answer = post(path, bad.body);
            EXPECT_EQ(answer.status, bad.status);
            EXPECT_EQ(answer.code(), bad.code);
            EXPECT_EQ(answer.header("content-type"), "application/problem+json");
        }
    }

    EXPECT_EQ(state(), before);
}

TEST_F(BadLimitInput, OfABatchIsRefusedForItsMemberOnly) {
    for (const BadCase& bad : cases()) {
        if (bad.code == "malformed_json" || bad.code == "invalid_number") {
            continue;  // Spoils the whole text.
        }
        SCOPED_TRACE(bad.what);
        const auto answer = post("/api/v1/check/batch", R"({"checks":[)" + bad.body + "]}");
        EXPECT_EQ(answer.status, 200);
        EXPECT_THAT(answer.body, ::testing::HasSubstr(R"({"results":[{"error":{"code":")" + bad.code + '"'));
    }
    EXPECT_EQ(post("/api/v1/check/batch", R"({"checks":[]})").code(), "invalid_checks");
    EXPECT_EQ(post("/api/v1/check/batch", R"({"checks":{}})").code(), "invalid_checks");
    std::string checks = "7";
    for (int i = 1; i < 1'000; ++i) {
        checks += ",7";
    }
    EXPECT_EQ(post("/api/v1/check/batch", R"({"checks":[)" + checks + "]}").status, 200);
    EXPECT_EQ(post("/api/v1/check/batch", R"({"checks":[)" + checks + ",7]}").code(), "invalid_checks");
    EXPECT_EQ(post("/api/v1/check/batch", R"({"atomic":1,"checks":[{}]})").code(), "invalid_flag");
}

TEST_F(BadLimitInput, OfAReleaseIsRefused) {
    EXPECT_EQ(post("/api/v1/release", R"({"plan":"jobs","lease":"1"})").code(), "invalid_key");
    EXPECT_EQ(post("/api/v1/release", R"({"key":"k","plan":7,"lease":"1"})").code(), "invalid_plans");
    EXPECT_EQ(post("/api/v1/release", R"({"key":"k","lease":"1"})").code(), "plan_not_found");
    EXPECT_EQ(post("/api/v1/release", R"({"key":"k","plan":"gold","lease":"1"})").code(), "invalid_plans");
    for (const char* lease :
         {R"("")", R"("x")", R"("-1")", R"("1 ")", "1", "null", R"("18446744073709551616")"}) {
        SCOPED_TRACE(lease);
        EXPECT_EQ(
            post("/api/v1/release", R"({"key":"k","plan":"jobs","lease":)" + std::string{lease} + "}").code(),
            "invalid_lease");
    }
}

TEST_F(BadLimitInput, OfAuthorizationIsRefused) {
    const std::vector<std::pair<std::string, std::string>> queries{
        {"", "invalid_key"},
        {"?key=k", "invalid_plans"},
        {"?key=&plan=gold", "invalid_key"},
        {"?key=%00&plan=gold", "invalid_key"},
        {"?key=%ff&plan=gold", "invalid_key"},
        {"?key=%zz&plan=gold", "malformed_request"},
        {"?key=a&key=b&plan=gold", "malformed_request"},
        {"?key=k&plan=gold&tokens=-1", "invalid_tokens"},
        {"?key=k&plan=gold&tokens=1.5", "invalid_tokens"},
        {"?key=k&plan=gold&tokens=", "invalid_tokens"},
        {"?key=k&plan=gold&tokens=4", "invalid_tokens"},
        {"?key=k&plan=gold,gold", "invalid_plans"},
        {"?key=k&plan=gold,", "plan_not_found"},
        {"?key=k&plan=%ff", "plan_not_found"},
    };
    for (const auto& [query, code] : queries) {
        SCOPED_TRACE(query);
        EXPECT_EQ(get("/api/v1/authz" + query).code(), code);
    }
    EXPECT_THAT(standing("k", "gold"), ::testing::HasSubstr(R"("remaining":3)"));
}

TEST_F(BadLimitInput, IsNotEchoedWhereItIsNoText) {
    for (const auto& answer : {get("/api/v1/authz?key=k&plan=%ff"), get("/admin/plans/%ff"),
                               put("/admin/plans/%ff", R"({"algorithm":"token_bucket"})"),
                               get("/admin/keys/k?plan=%ff"), remove("/admin/plans/%ff")}) {
        EXPECT_THAT(answer.status, ::testing::AnyOf(400, 404));
        EXPECT_EQ(answer.body.find('\xff'), std::string::npos) << answer.body;
    }
}

TEST_F(BadLimitInput, KeysOfTheLargestSizeAndOfAnyScriptAreFine) {
    EXPECT_EQ(check(std::string(256, 'k'), R"(["gold"])").status, 200);
    EXPECT_EQ(check("ключ {x} % \xF0\x9F\x94\x91", R"(["gold"])").status, 200);
}

}  // namespace
}  // namespace sluice::test
