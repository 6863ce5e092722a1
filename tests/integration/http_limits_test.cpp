// Checks, refunds, leases and authorization as the contract words them.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/limit_door.hpp"

namespace sluice::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// Both ways to ask a store: at once, and through the combiner.
class HttpLimits : public LimitDoor, public ::testing::WithParamInterface<StoreCalls> {
protected:
    HttpLimits() : LimitDoor{options()} {}

    static LimitServiceOptions options() {
        LimitServiceOptions options;
        options.calls = GetParam();
        options.deadline = std::chrono::seconds{5};
        return options;
    }
};

TEST_P(HttpLimits, AnswerWithExactlySevenFieldsInOrder) {
    const auto answer = check("user-1", R"(["gold","daily"])", R"(,"tokens":1)");

    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.header("content-type"), "application/json");
    EXPECT_EQ(answer.body, R"({"allowed":true,"plan":"gold","limit":3,"remaining":2,"retryAfterMs":0,)"
                           R"("resetAfterMs":1000,"reason":"OK"})");
    EXPECT_EQ(answer.header("ratelimit-policy"), R"("gold";q=3;w=3, "daily";q=10;w=86400)");
    EXPECT_EQ(answer.header("ratelimit"), R"("gold";r=2;t=1)");
    EXPECT_EQ(answer.header("retry-after"), "");
}

TEST_P(HttpLimits, DenyWith429AndWhenToComeBack) {
    ASSERT_EQ(check("k", R"(["gold"])", R"(,"tokens":3)").status, 200);
    limit_clock_.advance(std::chrono::microseconds{1});

    const auto denied = check("k", R"(["daily","gold"])", R"(,"tokens":2)");

    EXPECT_EQ(denied.status, 429);
    EXPECT_EQ(denied.header("content-type"), "application/json");
    EXPECT_EQ(denied.body, R"({"allowed":false,"plan":"gold","limit":3,"remaining":0,"retryAfterMs":2000,)"
                           R"("resetAfterMs":3000,"reason":"DENIED"})");
    EXPECT_EQ(denied.header("retry-after"), "2");
    EXPECT_EQ(denied.header("ratelimit"), R"("gold";r=0;t=2)");
}

TEST_P(HttpLimits, NeverSendClientsBackAtOnce) {
    ASSERT_EQ(check("k", R"(["gold"])", R"(,"tokens":3)").status, 200);
    limit_clock_.advance(std::chrono::microseconds{999'999});

    const auto denied = check("k", R"(["gold"])");

    EXPECT_THAT(denied.body, HasSubstr(R"("retryAfterMs":1,)"));
    EXPECT_EQ(denied.header("retry-after"), "1");
}

TEST_P(HttpLimits, OnlyLookWithZeroTokens) {
    EXPECT_EQ(check("k", R"(["gold"])", R"(,"tokens":0)").status, 200);
    EXPECT_THAT(check("k", R"(["gold"])", R"(,"tokens":0)").body, HasSubstr(R"("remaining":3)"));
    ASSERT_EQ(check("k", R"(["gold"])", R"(,"tokens":3)").status, 200);

    EXPECT_EQ(check("k", R"(["gold"])", R"(,"tokens":0)").status, 429);
}

TEST_P(HttpLimits, LetShadowsPassAndSaySo) {
    ASSERT_EQ(check("k", R"(["tried"])").status, 200);

    const auto answer = check("k", R"(["tried"])");

    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.body, HasSubstr(R"("reason":"SHADOW")"));
}

TEST_P(HttpLimits, NameAnUnknownPlanAndChargeNothing) {
    const auto answer = check("k", R"(["gold","silver"])");

    EXPECT_EQ(answer.status, 404);
    EXPECT_EQ(answer.code(), "plan_not_found");
    EXPECT_THAT(answer.body, HasSubstr("'silver'"));
    EXPECT_THAT(standing("k", "gold"), HasSubstr(R"("remaining":3)"));
}

TEST_P(HttpLimits, AnswerABatchInOrder) {
    const auto answer =
        post("/api/v1/check/batch",
             R"({"checks":[{"key":"a","plans":["gold"],"tokens":3},{"key":"a","plans":["gold"]},)"
             R"({"key":"a","plans":["nope"]},7,{"key":"b","plans":["gold"]},)"
             R"({"key":"b","plans":["gold"],"tokens":3}]})");

    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.body,
                MatchesRegex(R"re(\{"results":\[\{"allowed":true.*"OK"\},\{"allowed":false.*"DENIED"\},)re"
                             R"re(\{"error":\{"code":"plan_not_found","status":404,"detail":"[^"]*"\}\},)re"
                             R"re(\{"error":\{"code":"malformed_json".*\}\},\{"allowed":true.*"OK"\},)re"
                             R"re(\{"allowed":false.*"DENIED"\}\]\})re"));
}

TEST_P(HttpLimits, AnswerAnAtomicBatchAsOne) {
    const auto answer =
        post("/api/v1/check/batch", R"({"atomic":true,"checks":[{"key":"a","plans":["daily","gold"]}]})");
    const auto wrong =
        post("/api/v1/check/batch",
             R"({"atomic":true,"checks":[{"key":"a","plans":["gold"]},{"key":"","plans":["gold"]}]})");

    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.body, HasSubstr(R"("reason":"OK","check":0})"));
    EXPECT_EQ(wrong.status, 400);
    EXPECT_THAT(wrong.body, HasSubstr("Check 2 of the batch"));
    EXPECT_THAT(standing("a", "gold"), HasSubstr(R"("remaining":2)"));
}

TEST_P(HttpLimits, GiveTokensBack) {
    ASSERT_EQ(check("k", R"(["gold","daily"])", R"(,"tokens":3)").status, 200);

    const auto given = post("/api/v1/refund", R"({"key":"k","plans":["gold","daily"],"tokens":2})");

    EXPECT_EQ(given.status, 200);
    EXPECT_EQ(given.body, R"({"status":"ok"})");
    EXPECT_THAT(standing("k", "gold"), HasSubstr(R"("remaining":2)"));
    EXPECT_THAT(standing("k", "daily"), HasSubstr(R"("remaining":9)"));
}

TEST_P(HttpLimits, HandOutLeasesAndTakeThemBack) {
    const auto first = check("k", R"(["jobs"])");
    ASSERT_EQ(check("k", R"(["jobs"])").status, 200);
    ASSERT_EQ(check("k", R"(["jobs"])").status, 429);
    EXPECT_EQ(first.header("ratelimit-policy"), R"("jobs";q=2;qu="concurrent-requests")");
    const auto begin = first.body.find(R"("lease":")") + 9;
    const std::string lease = first.body.substr(begin, first.body.find('"', begin) - begin);
    const std::string body = R"({"key":"k","plan":"jobs","lease":")" + lease + R"("})";

    EXPECT_EQ(post("/api/v1/release", body).body, R"({"released":true})");
    EXPECT_EQ(post("/api/v1/release", body).body, R"({"released":false})");
    EXPECT_EQ(check("k", R"(["jobs"])").status, 200);
}

TEST_P(HttpLimits, AuthorizeWithoutABody) {
    const auto allowed = get("/api/v1/authz?plan=gold,daily&key=k%2F1&tokens=3");
    EXPECT_EQ(allowed.status, 200);
    EXPECT_EQ(allowed.body, "");
    EXPECT_EQ(allowed.header("content-type"), "");
    EXPECT_EQ(allowed.header("content-length"), "0");
    EXPECT_EQ(allowed.header("ratelimit"), R"("gold";r=0;t=3)");

    const auto denied = get("/api/v1/authz?plan=gold&key=k%2F1");

    EXPECT_EQ(denied.status, 429);
    EXPECT_EQ(denied.body, "");
    EXPECT_EQ(denied.header("retry-after"), "1");
}

TEST_P(HttpLimits, AuthorizeByAKeyInAHeader) {
    RawHttp http{port()};
    http.send(request_text("GET", "/api/v1/authz?plan=gold&tokens=3", "", "x-sluice-key: h1\r\n"));
    EXPECT_EQ(http.read().value().status, 200);
    http.send(request_text("GET", "/api/v1/authz?plan=gold&keyHeader=X-Api-Key", "", "X-API-KEY: h1\r\n"));

    EXPECT_EQ(http.read().value().status, 429);
    EXPECT_EQ(get("/api/v1/authz?plan=gold").code(), "invalid_key");
    EXPECT_EQ(get("/api/v1/authz?plan=nope&key=k").code(), "plan_not_found");
}

TEST_P(HttpLimits, FailAsThePlansSay) {
    break_store();

    const auto open = check("k", R"(["gold"])");
    EXPECT_EQ(open.status, 200);
    EXPECT_THAT(open.body, HasSubstr(R"("reason":"FAIL_OPEN")"));
    EXPECT_EQ(open.header("ratelimit"), "");

    const auto closed = check("k", R"(["gold","strict"])");
    EXPECT_EQ(closed.status, 429);
    EXPECT_THAT(closed.body, HasSubstr(R"("plan":"strict")"));
    EXPECT_THAT(closed.body, HasSubstr(R"("reason":"FAIL_CLOSED")"));
    EXPECT_EQ(closed.header("retry-after"), "1");

    EXPECT_THAT(check("k", R"(["near"])").body, HasSubstr(R"("reason":"LOCAL")"));
    EXPECT_EQ(post("/api/v1/refund", R"({"key":"k","plans":["gold"]})").code(), "store_unavailable");
}

TEST_P(HttpLimits, AreDegradedWhileTheStoreFails) {
    EXPECT_EQ(get("/readyz").body, R"({"status":"ok","slots":"ok","limits":"ok"})");
    limit_servers_.server_down("one", "one is frozen");
    limit_servers_.server_down("other", "the other too");
    limit_servers_.server_up("one");

    const auto ready = get("/readyz");

    EXPECT_EQ(ready.status, 200);
    EXPECT_EQ(ready.body, R"({"status":"degraded","slots":"ok","limits":"store_unavailable"})");
    limit_servers_.server_left("other");
    EXPECT_EQ(get("/readyz").body, R"({"status":"ok","slots":"ok","limits":"ok"})");
}

INSTANTIATE_TEST_SUITE_P(Calls, HttpLimits, ::testing::Values(StoreCalls::Direct, StoreCalls::Blocking),
                         [](const auto& calls) {
                             return std::string{calls.param == StoreCalls::Direct ? "Direct" : "Blocking"};
                         });

}  // namespace
}  // namespace sluice::test
