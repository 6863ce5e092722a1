// A field that no one knows is a mistake, not a wish to be ignored: what each route says of it.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/limit_door.hpp"

namespace sluice::test {
namespace {

using ::testing::HasSubstr;

struct Mistyped {
    std::string method;
    std::string target;
    std::string body;   // With one field that is none.
    std::string meant;  // What is said about it.
};

const std::string kTime = R"("requestedTime":"2025-06-01T12:00:00Z")";

class UnknownFields : public LimitDoor {
protected:
    std::string everything() const { return state() + get("/admin/plans").body + get("/admin/keys/k").body; }
};

std::vector<Mistyped> mistyped() {
    const std::string event = R"({"eventId":"new",)" + kTime;
    return {
        {"POST", "/api/v1/slots", event + R"(,"weigth":3})",
         "weigth is not a field of an event; did you mean weight?"},
        {"POST", "/api/v1/slots", event + R"(,"cost":3})",
         "it has eventId, configName, requestedTime, weight, maxDelay."},
        {"POST", "/api/v1/slots", R"({"eventid":"new",)" + kTime + "}", "did you mean eventId?"},
        {"POST", "/api/v1/slots/quote", "{" + kTime + R"(,"maxdelay":"PT1S"})", "did you mean maxDelay?"},
        {"POST", "/api/v1/slots/quote", event + R"(,"maxdelay":"PT1S"})", "did you mean maxDelay?"},
        {"POST", "/api/v1/slots/batch", "{" + kTime + R"(,"atomc":true,"events":[{"eventId":"new"}]})",
         "did you mean atomic?"},
        {"POST", "/api/v1/slots/known/move", "{" + kTime + R"(,"weight":2})", "it has requestedTime."},
        {"POST", "/admin/rate-limit/config",
         R"({"configName":"default","maxPerWindows":7,"maxPerWindow":7,"windowSize":"PT4S"})",
         "maxPerWindows is not a field of a config; did you mean maxPerWindow?"},
        {"POST", "/api/v1/check", R"({"key":"k","plans":["gold"],"cost":3})", "it has key, plans, tokens."},
        {"POST", "/api/v1/check", R"({"key":"k","plans":["gold"],"token":3})", "did you mean tokens?"},
        {"POST", "/api/v1/check/batch", R"({"checks":[{"key":"k","plans":["gold"]}],"atomc":true})",
         "did you mean atomic?"},
        {"POST", "/api/v1/refund", R"({"key":"k","plan":["gold"]})", "did you mean plans?"},
        {"POST", "/api/v1/release", R"({"key":"k","plan":"jobs","lease":"1","keys":1})", "did you mean key?"},
        {"PUT", "/admin/plans/silver", R"({"algorithm":"token_bucket","capacity":1,"refil":"1/s"})",
         "refil is not a field of a plan; did you mean refill?"},
        {"PUT", "/admin/keys/k", R"({"plan":"gold","capacity":9,"tll":"PT1H"})",
         "tll is not a field of an override; did you mean ttl?"},
        {"PUT", "/admin/keys/k", R"({"plan":"gold","capacity":9,"ttl":"PT1H","shadow":true})",
         "shadow is not a field of an override"},
    };
}

TEST_F(UnknownFields, AreRefusedOnEveryRouteWithTheNearestThatIsKnown) {
    ASSERT_EQ(assign_at_noon("known").status, 200);
    const std::string before = everything();

    for (const Mistyped& wrong : mistyped()) {
        SCOPED_TRACE(wrong.target + " " + wrong.body);
        const auto answer = call(port(), wrong.method, wrong.target, wrong.body);

        EXPECT_EQ(answer.status, 400);
        EXPECT_EQ(answer.code(), "unknown_field");
        EXPECT_THAT(answer.body, HasSubstr(wrong.meant));
    }

    EXPECT_EQ(everything(), before);
}

TEST_F(UnknownFields, OfOneMemberRefuseThatMemberOnly) {
    const std::string wrong = R"({"eventId":"a",)" + kTime + R"(,"weigth":3})";
    const std::string right = R"({"eventId":"b",)" + kTime + "}";

    const auto batch = post("/api/v1/slots/batch", R"({"events":[)" + wrong + "," + right + "]}");
    RawHttp http{port()};
    http.send(request_text("POST", "/api/v1/slots/stream", wrong + "\n" + right + "\n",
                           "Content-Type: application/x-ndjson\r\n"));
    const auto stream = http.read();
    const auto checks =
        post("/api/v1/check/batch",
             R"({"checks":[{"key":"k","plans":["gold"],"cost":1},{"key":"k","plans":["gold"]}]})");

    for (const HttpAnswer& answer : {batch, stream.value()}) {
        EXPECT_EQ(answer.status, 200);
        EXPECT_THAT(answer.body, HasSubstr(R"({"eventId":"a","error":{"code":"unknown_field","status":400)"));
        EXPECT_THAT(answer.body, HasSubstr("did you mean weight?"));
        EXPECT_THAT(answer.body, HasSubstr(R"({"eventId":"b","scheduledTime":)"));
    }
    EXPECT_EQ(checks.status, 200);
    EXPECT_THAT(checks.body, HasSubstr(R"({"results":[{"error":{"code":"unknown_field")"));
    EXPECT_THAT(checks.body, HasSubstr(R"({"allowed":true)"));
    EXPECT_EQ(get("/api/v1/slots/a").status, 404);
}

TEST_F(UnknownFields, AreRefusedEvenForAnEventThatIsKnown) {
    ASSERT_EQ(assign_at_noon("known").status, 200);

    const auto unknown = post("/api/v1/slots", R"({"eventId":"known",)" + kTime + R"(,"weigth":3})");
    const auto malformed = post("/api/v1/slots", R"({"eventId":"known",)" + kTime);
    const auto odd_value = post("/api/v1/slots", R"({"eventId":"known","requestedTime":"never"})");
    const auto later = post("/api/v1/slots", R"({"eventId":"known",)" + kTime + R"(,"target":{}})");

    EXPECT_EQ(unknown.code(), "unknown_field");
    EXPECT_EQ(malformed.code(), "malformed_json");
    EXPECT_EQ(odd_value.status, 200) << odd_value.body;
    EXPECT_EQ(later.status, 200) << later.body;
}

TEST_F(UnknownFields, OfAnyLengthAreToldInShort) {
    std::string long_name(60'000, 'x');
    long_name[63] = '\xC3';  // Where it would be cut.
    long_name[64] = '\xA9';

    const auto answer = post("/api/v1/slots", "{\"" + long_name + "\":1}");

    EXPECT_EQ(answer.code(), "unknown_field");
    EXPECT_LT(answer.body.size(), 500U);
    EXPECT_THAT(answer.body, HasSubstr(std::string(63, 'x') + "... is not a field"));
}

TEST_F(UnknownFields, AreNotThoseOfWhatIsNotBuiltYet) {
    for (const char* later : {R"("configNames":["a"])", R"("target":{"type":"log"})", R"("payload":1)",
                              R"("expiresAfter":"PT1H")"}) {
        SCOPED_TRACE(later);
        const std::string body = R"({"eventId":"new",)" + kTime + "," + later + "}";
        EXPECT_EQ(post("/api/v1/slots", body).code(), "not_supported");
        EXPECT_EQ(post("/api/v1/slots/quote", body).code(), "not_supported");
    }
}

}  // namespace
}  // namespace sluice::test
