// The slot and config endpoints as the contract words them.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/door_fixture.hpp"

namespace sluice::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class HttpSlots : public DoorFixture {
protected:
    HttpAnswer cancel(std::string_view id) const {
        return call(port(), "DELETE", "/api/v1/slots/" + std::string{id});
    }
    HttpAnswer move(std::string_view id, std::string_view to) const {
        return post("/api/v1/slots/" + std::string{id} + "/move",
                    R"({"requestedTime":")" + std::string{to} + R"("})");
    }
    // What the window that starts at noon holds.
    std::string noon_window() const {
        return get("/api/v1/windows?configName=default&from=2025-06-01T12:00:00Z&to=2025-06-01T12:00:04Z")
            .body;
    }
};

class StrictDoor : public DoorFixture {
protected:
    StrictDoor() : DoorFixture{{}, LedgerOptions{std::chrono::seconds{5}, true, 1}} {}
};

TEST_F(HttpSlots, AnswerWithExactlyThreeFieldsInOrder) {
    const auto answer = assign_at_noon("pay-123");

    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.header("content-type"), "application/json");
    EXPECT_THAT(answer.body,
                MatchesRegex(R"re(\{"eventId":"pay-123","scheduledTime":"2025-06-01T12:00:0[0-3]\.)re"
                             R"re([0-9]{3}Z","delayMs":[0-9]{1,4}\})re"));
}

TEST_F(HttpSlots, AnswerAKnownEventByteForByteWhateverElseIsAsked) {
    const auto first = assign_at_noon("e");

    const auto again = assign_at_noon("e");
    const auto other =
        post("/api/v1/slots",
             R"({"eventId":"e","configName":"nope","weight":99,"requestedTime":"2025-07-01T00:00:00Z"})");

    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(other.status, 200);
    EXPECT_EQ(other.body, first.body);
}

TEST_F(HttpSlots, AnswerAKnownEventEvenWhenTheRestOfItsBodyIsWrong) {
    const auto first = assign_at_noon("e");

    const auto wrong = post("/api/v1/slots", R"({"eventId":"e","requestedTime":"never","weight":-1})");

    EXPECT_EQ(wrong.status, 200);
    EXPECT_EQ(wrong.body, first.body);
}

TEST_F(HttpSlots, TakeEventsThatAreNamedLikeAPath) {
    ASSERT_EQ(assign_at_noon("batch").status, 200);

    EXPECT_EQ(get("/api/v1/slots/batch").status, 200);
    EXPECT_EQ(cancel("batch").status, 204);
}

TEST_F(StrictDoor, RefusesAnotherBodyForAKnownEvent) {
    ASSERT_EQ(assign_at_noon("e").status, 200);

    const auto other = post("/api/v1/slots", R"({"eventId":"e","requestedTime":"2025-06-01T12:00:01Z"})");

    EXPECT_EQ(other.status, 422);
    EXPECT_EQ(other.code(), "different_body");
    EXPECT_EQ(assign_at_noon("e").status, 200);
}

TEST_F(HttpSlots, ShowTheWholeStoryOfAnEvent) {
    ASSERT_EQ(assign_at_noon("e").status, 200);
    ASSERT_EQ(move("e", "2025-06-01T13:00:00Z").status, 200);

    const auto story = get("/api/v1/slots/e");

    EXPECT_EQ(story.status, 200);
    EXPECT_THAT(story.body, HasSubstr(R"("requestedTime":"2025-06-01T13:00:00.000Z")"));
    EXPECT_THAT(story.body, HasSubstr(R"("windowStart":"2025-06-01T13:00:00.000Z")"));
    EXPECT_THAT(story.body, HasSubstr(R"("configName":"default","configId":"cfg-1")"));
    EXPECT_THAT(story.body, HasSubstr(R"("state":"assigned")"));
    EXPECT_THAT(story.body, HasSubstr(R"("change":"assigned","at":"2025-06-01T12:00:00.000Z")"));
    EXPECT_THAT(story.body, HasSubstr(R"("change":"moved","at":"2025-06-01T12:00:00.000Z")"));
}

TEST_F(HttpSlots, GivePlacesBackWhenCancelledAndRefuseTheEventAfterwards) {
    ASSERT_EQ(assign_at_noon("e").status, 200);
    EXPECT_THAT(noon_window(), HasSubstr(R"("count":1,"max":10)"));

    EXPECT_EQ(cancel("e").status, 204);
    EXPECT_EQ(cancel("e").status, 204);

    EXPECT_THAT(noon_window(), HasSubstr(R"("count":0,"max":10)"));
    const auto again = assign_at_noon("e");
    EXPECT_EQ(again.status, 409);
    EXPECT_EQ(again.code(), "cancelled");
    EXPECT_EQ(move("e", "2025-06-01T13:00:00Z").code(), "cancelled");
    EXPECT_THAT(get("/api/v1/slots/e").body, HasSubstr(R"("state":"cancelled")"));
}

TEST_F(HttpSlots, AnswerTheNewSlotAfterAMove) {
    ASSERT_EQ(assign_at_noon("e").status, 200);

    const auto moved = move("e", "2025-06-01T13:00:00Z");

    EXPECT_THAT(moved.body, StartsWith(R"({"eventId":"e","scheduledTime":"2025-06-01T13:00:0)"));
    EXPECT_EQ(assign_at_noon("e").body, moved.body);
    EXPECT_THAT(noon_window(), HasSubstr(R"("count":0)"));
    EXPECT_EQ(move("nobody", "2025-06-01T13:00:00Z").status, 404);
}

TEST_F(HttpSlots, QuoteTheEarliestTimeAndReserveNothing) {
    for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(assign_at_noon("e" + std::to_string(i)).status, 200);
    }
    const std::string before = state();

    const auto quote = post("/api/v1/slots/quote", R"({"requestedTime":"2025-06-01T12:00:00Z"})");

    EXPECT_EQ(quote.body, R"({"scheduledTime":"2025-06-01T12:00:04.000Z","delayMs":4000})");
    EXPECT_EQ(state(), before);
}

TEST_F(HttpSlots, AnswerExhaustedOnlyWhenEveryWindowWithinReachIsFull) {
    for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(assign_at_noon("e" + std::to_string(i)).status, 200);
    }

    const auto refused = post(
        "/api/v1/slots", R"({"eventId":"late","requestedTime":"2025-06-01T12:00:00Z","maxDelay":"PT3S"})");
    const auto taken = post(
        "/api/v1/slots", R"({"eventId":"later","requestedTime":"2025-06-01T12:00:00Z","maxDelay":"PT4S"})");

    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.code(), "exhausted");
    EXPECT_EQ(refused.header("retry-after"), "4");  // When the next window begins at the latest.
    EXPECT_NE(refused.body.find("maxDelay is PT3S: ask with a longer one, or raise maxPerWindow"),
              std::string::npos)
        << refused.body;
    EXPECT_EQ(taken.body, R"({"eventId":"later","scheduledTime":"2025-06-01T12:00:04.000Z","delayMs":4000})");
    EXPECT_TRUE(
        log_.has("ERROR SlotAssignmentService - Could not assign slot for event late, searched 1 windows"));
}

TEST_F(HttpSlots, AnswerABatchInOrderWithErrorsInPlace) {
    const auto answer =
        post("/api/v1/slots/batch",
             R"({"configName":"default","requestedTime":"2025-06-01T12:00:00Z","events":[)"
             R"({"eventId":"a"},{"eventId":""},{"eventId":"b","configName":"nope"},{"eventId":"a"},7]})");

    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(
        answer.body,
        MatchesRegex(
            R"re(\{"results":\[\{"eventId":"a","scheduledTime".*\},\{"eventId":"","error":\{"code":)re"
            R"re("invalid_event_id".*)re"
            R"re(\{"eventId":"b","error":\{"code":"config_not_found".*\{"eventId":"a","scheduledTime".*)re"
            R"re(\{"eventId":null,"error":\{"code":"malformed_json".*\]\})re"));
}

TEST_F(HttpSlots, AssignABatchOfTenThousandButNotOneMore) {
    std::string events;
    for (int i = 0; i < 10'000; ++i) {
        events += (i == 0 ? R"({"eventId":"e)" : R"(,{"eventId":"e)") + std::to_string(i) + R"("})";
    }
    const std::string head = R"({"requestedTime":"2025-06-01T12:00:00Z","events":[)";

    const auto fits = post("/api/v1/slots/batch", head + events + "]}");
    const auto above = post("/api/v1/slots/batch", head + events + R"(,{"eventId":"one-more"}]})");

    EXPECT_EQ(fits.status, 200);
    EXPECT_EQ(metrics_.assigned_count, 10'000);
    EXPECT_EQ(above.status, 400);
    EXPECT_EQ(above.code(), "invalid_events");
}

TEST_F(HttpSlots, AssignAllOfAnAtomicBatchOrNone) {
    ASSERT_EQ(assign_at_noon("gone").status, 200);
    ASSERT_EQ(cancel("gone").status, 204);
    const std::string before = state();

    const auto refused =
        post("/api/v1/slots/batch", R"({"atomic":true,"requestedTime":"2025-06-01T12:00:00Z",)"
                                    R"("events":[{"eventId":"a"},{"eventId":"gone"}]})");
    const bool unchanged = state() == before && get("/api/v1/slots/a").status == 404;
    const auto taken = post("/api/v1/slots/batch", R"({"atomic":true,"requestedTime":"2025-06-01T12:00:00Z",)"
                                                   R"("events":[{"eventId":"a"},{"eventId":"b"}]})");

    EXPECT_EQ(refused.status, 409);
    EXPECT_THAT(refused.body, HasSubstr("event 'gone' failed first"));
    EXPECT_TRUE(unchanged);
    EXPECT_EQ(taken.status, 200);
    EXPECT_THAT(noon_window(), HasSubstr(R"("count":2)"));
}

TEST_F(HttpSlots, KeepEveryVersionOfAConfig) {
    const auto second =
        post("/admin/rate-limit/config",
             R"({"configName":"default","maxPerWindow":20,"windowSizeSecs":4,"maxLookahead":7})");

    EXPECT_EQ(second.body,
              R"({"configId":"cfg-2","configName":"default","maxPerWindow":20,"windowSize":"PT4S",)"
              R"("pool":"default","spread":"random","maxLookahead":7,"past":"asSent",)"
              R"("effectiveFrom":"2025-06-01T12:00:00.000Z","active":true})");
    EXPECT_EQ(get("/admin/rate-limit/config").body, second.body);
    EXPECT_EQ(get("/admin/rate-limit/config?name=default").body, second.body);
    EXPECT_THAT(get("/admin/rate-limit/config/history?name=default").body,
                MatchesRegex(R"re(\{"versions":\[\{"configId":"cfg-2".*"active":true\},)re"
                             R"re(\{"configId":"cfg-1".*"active":false\}\]\})re"));
    EXPECT_EQ(get("/admin/rate-limit/config?name=nope").status, 404);
    EXPECT_TRUE(log_.has("INFO RateLimitConfigRepository - Config updated: default maxPerWindow=10->20"));
}

TEST_F(HttpSlots, TakeTheSpreadAndThePastOfAConfig) {
    const auto made =
        post("/admin/rate-limit/config", R"({"configName":"even","maxPerWindow":100,"windowSize":"PT0.1S",)"
                                         R"("spread":"stratified","past":"now"})");

    EXPECT_EQ(made.status, 200);
    EXPECT_THAT(made.body, HasSubstr(R"("pool":"even","spread":"stratified","past":"now",)"));
    // The store's clock stands at noon.
    const auto late = post(
        "/api/v1/slots",
        R"({"eventId":"late","configName":"even","requestedTime":"2025-06-01T11:58:00Z","maxDelay":"PT1S"})");
    EXPECT_EQ(late.status, 200);
    EXPECT_THAT(late.body, HasSubstr(R"("scheduledTime":"2025-06-01T12:00:00.)"));
    EXPECT_THAT(late.body, HasSubstr(R"("delayMs":120)"));
}

TEST_F(HttpSlots, KeepTheWindowSizeOfAPoolThatIsInUse) {
    ASSERT_EQ(assign_at_noon("e").status, 200);

    const auto in_use =
        post("/admin/rate-limit/config", R"({"configName":"default","maxPerWindow":10,"windowSize":"PT8S"})");
    const auto shared =
        post("/admin/rate-limit/config",
             R"({"configName":"vip","pool":"default","maxPerWindow":10,"windowSize":"PT8S"})");

    EXPECT_EQ(in_use.status, 409);
    EXPECT_EQ(in_use.code(), "window_size_in_use");
    EXPECT_EQ(shared.status, 409);
    EXPECT_EQ(shared.code(), "pool_window_size");
}

TEST_F(HttpSlots, SayHowTheyAre) {
    for (const char* path : {"/healthz", "/readyz", "/q/health/live", "/q/health/ready"}) {
        SCOPED_TRACE(path);
        const auto answer = get(path);
        EXPECT_EQ(answer.status, 200);
        EXPECT_THAT(answer.body, StartsWith(R"({"status":"ok")"));
    }
    EXPECT_EQ(get("/metrics").body, "metrics\n");
    EXPECT_EQ(get("/q/metrics").body, "metrics\n");
    EXPECT_THAT(get("/openapi.json").body, HasSubstr("\"openapi\""));
    EXPECT_EQ(post("/admin/rate-limit/cache/flush", "").status, 200);
}

}  // namespace
}  // namespace sluice::test
