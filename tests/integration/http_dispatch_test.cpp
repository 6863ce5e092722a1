// Work that slots bring along, and what operators do with it, as the contract words them.
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/door_fixture.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kTime = R"("requestedTime":"2025-06-01T12:00:00Z")";
const std::string kTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const std::string kToken = "a token of at least 32 characters";

// A door whose store keeps work.
class HttpDispatch : protected WorkWorld, public DoorFixture {
protected:
    HttpDispatch() : DoorFixture{{}, {}, {}, this} {}

    HttpAnswer assign_with(const std::string& id, const std::string& more,
                           const std::string& header = "") const {
        RawHttp http{port()};
        http.send(request_text("POST", "/api/v1/slots", R"({"eventId":")" + id + "\"," + kTime + more + "}",
                               "Content-Type: application/json\r\n" + header));
        return http.read().value();
    }
    HttpAnswer put(std::string_view target, std::string_view body) const {
        return call(port(), "PUT", target, body);
    }
    // The same event alone, in a batch, and in a stream.
    std::vector<HttpAnswer> assign_every_way(const std::string& id, const std::string& more) const {
        const auto body = [&](const std::string& way) {
            return R"({"eventId":")" + id + way + "\"," + kTime + more + "}";
        };
        const std::string filler = R"({"eventId":")" + id + R"(-filler",)" + kTime + R"(,"weight":1})";
        RawHttp stream{port()};
        stream.send(request_text("POST", "/api/v1/slots/stream", body("-stream") + "\n",
                                 "Content-Type: application/x-ndjson\r\n"));
        return {post("/api/v1/slots", body("")),
                post("/api/v1/slots/batch", R"({"events":[ )" + filler + " , " + body("-batch") + " ]}"),
                stream.read().value()};
    }
};

TEST_F(HttpDispatch, TakesTheWorkAlongWithTheSlot) {
    const auto answer = assign_with(
        "pay-1",
        R"(,"target":{"type":"webhook","url":"https://pay.example/hooks?x=1"},"payload":{"n": 1.50},)"
        R"("expiresAfter":"PT1H")",
        "traceparent: " + kTrace + "\r\n");

    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(order("pay-1"), (WorkOrder{{TargetKind::Webhook, "https://pay.example/hooks?x=1"},
                                         {"pay.example", "https://pay.example/hooks"},
                                         R"({"n": 1.50})",
                                         1h,
                                         kTrace}));
}

TEST_F(HttpDispatch, TakesWorkWithNothingButATarget) {
    ASSERT_EQ(assign_with("e", R"(,"target":{"type":"log"})", "traceparent: nonsense\r\n").status, 200);

    EXPECT_EQ(order("e"), (WorkOrder{{TargetKind::Log}}));
}

TEST_F(HttpDispatch, KeepsThePayloadByteForByte) {
    const std::string largest = "\"" + std::string(kPayloadMax - 2, 'x') + "\"";
    const std::vector<std::string> payloads{"{ \"b\" : 1 ,\t\"a\":[ ] }",
                                            R"("\u0041\/é")",
                                            "1e400",
                                            "18446744073709551616",
                                            "1e99999999999",
                                            "0.10",
                                            "null",
                                            "[[[[1.0]]]]",
                                            R"({"payload":{"payload":"}"}})",
                                            largest};

    for (std::size_t i = 0; i < payloads.size(); ++i) {
        const std::string id = "e" + std::to_string(i);
        SCOPED_TRACE(payloads[i].substr(0, 40));

        const auto answers =
            assign_every_way(id, R"(,"target":{"type":"log"}, "payload": )" + payloads[i] + " ");

        for (const HttpAnswer& answer : answers) {
            EXPECT_EQ(answer.status, 200) << answer.body;
        }
        for (const char* way : {"", "-batch", "-stream"}) {
            EXPECT_EQ(order(id + way).payload, payloads[i]) << way;
        }
    }
    EXPECT_EQ(ordered(), 3 * payloads.size());
}

TEST_F(HttpDispatch, KnowsAPayloadHoweverItsNameIsWritten) {
    ASSERT_EQ(assign_with("e", R"(,"pay\u006coad": [1] ,"target":{"type":"log"})").status, 200);

    EXPECT_EQ(order("e").payload, "[1]");
}

struct BadWork {
    std::string fields;
    std::string code;
};

std::vector<BadWork> bad_works() {
    const std::string log = R"("target":{"type":"log"})";
    const std::string too_large = "\"" + std::string(kPayloadMax - 1, 'x') + "\"";
    return {{R"("target":{"type":"pigeon"})", "invalid_target"},
            {R"("target":{})", "invalid_target"},
            {R"("target":{"type":7})", "invalid_target"},
            {R"("target":"log")", "invalid_target"},
            {R"("target":null)", "invalid_target"},
            {R"("target":{"type":"webhook"})", "invalid_target"},
            {R"("target":{"type":"webhook","url":7})", "invalid_target"},
            {R"("target":{"type":"webhook","url":"ftp://pay.example/"})", "invalid_target"},
            {R"("target":{"type":"webhook","url":"https://u:p@pay.example/"})", "credentials_in_url"},
            {R"("target":{"type":"webhook","url":"http://forbidden/"})", "forbidden_address"},
            {R"("target":{"type":"kafka","topic":"t"})", "target_not_configured"},
            {R"("target":{"type":"temporal","workflowType":"w","taskQueue":"q"})", "not_supported"},
            {R"("target":{"type":"log","url":"https://pay.example/"})", "unknown_field"},
            {R"("target":{"type":"webhook","url":"https://pay.example/","topic":"t"})", "unknown_field"},
            {R"("target":{"type":"log","colour":1})", "unknown_field"},
            {R"("payload":1)", "invalid_target"},
            {R"("expiresAfter":"PT1H")", "invalid_target"},
            {log + R"(,"payload":)" + too_large, "payload_too_large"},
            {log + R"(,"expiresAfter":"PT0S")", "invalid_duration"},
            {log + R"(,"expiresAfter":7)", "invalid_duration"},
            {R"("configNames":["a"],)" + log, "not_supported"}};
}

TEST_F(HttpDispatch, RefusesBadWorkInEveryWayAndStoresNothing) {
    const std::string before = state();

    for (const BadWork& wrong : bad_works()) {
        SCOPED_TRACE(wrong.fields.substr(0, 80));
        const std::string body = R"({"eventId":"bad",)" + kTime + "," + wrong.fields + "}";
        const auto alone = post("/api/v1/slots", body);
        const auto quoted = post("/api/v1/slots/quote", body);
        const auto batch = post("/api/v1/slots/batch", R"({"events":[)" + body + "]}");
        const auto atomic = post("/api/v1/slots/batch", R"({"atomic":true,"events":[)" + body + "]}");
        RawHttp stream{port()};
        stream.send(request_text("POST", "/api/v1/slots/stream", body + "\n",
                                 "Content-Type: application/x-ndjson\r\n"));

        for (const HttpAnswer& answer : {alone, quoted, atomic}) {
            EXPECT_EQ(answer.status, 400);
            EXPECT_EQ(answer.code(), wrong.code) << answer.body;
        }
        for (const HttpAnswer& answer : {batch, stream.read().value()}) {
            EXPECT_EQ(answer.status, 200);
            EXPECT_THAT(answer.body, HasSubstr(R"("error":{"code":")" + wrong.code + R"(","status":400)"));
        }
    }

    EXPECT_EQ(state(), before);
    EXPECT_EQ(ordered(), 0U);
}

TEST_F(HttpDispatch, AnswersAKnownEventBeforeItLooksAtItsWork) {
    ASSERT_EQ(assign_at_noon("e").status, 200);

    EXPECT_EQ(assign_with("e", R"(,"target":{"type":"pigeon"})").status, 200);
    EXPECT_EQ(assign_with("e", R"(,"payload":1)").status, 200);
    EXPECT_EQ(assign_with("e", R"(,"target":{"type":"log"})").status, 200);
    EXPECT_EQ(assign_with("e", R"(,"target":{"type":"log","colour":1})").code(), "unknown_field");
    EXPECT_EQ(ordered(), 0U);
}

TEST_F(HttpDispatch, QuotesAnEventWithItsWorkAndStoresNothing) {
    const std::string before = state();

    const auto quote = post("/api/v1/slots/quote", R"({"target":{"type":"log"},"payload":1,)" + kTime + "}");

    EXPECT_EQ(quote.status, 200) << quote.body;
    EXPECT_EQ(state(), before);
    EXPECT_EQ(ordered(), 0U);
}

TEST_F(HttpDispatch, TakesNoWorkForABatchAsAWhole) {
    const auto answer =
        post("/api/v1/slots/batch", R"({"target":{"type":"log"},"events":[{"eventId":"e",)" + kTime + "}]}");

    EXPECT_EQ(answer.code(), "not_supported");
}

TEST_F(HttpDispatch, RefusesToChangeWhatIsOnItsWay) {
    ASSERT_EQ(assign_at_noon("e").status, 200);
    dispatched.insert("e");

    const auto cancelled = call(port(), "DELETE", "/api/v1/slots/e");
    const auto moved = post("/api/v1/slots/e/move", R"({"requestedTime":"2025-06-01T13:00:00Z"})");

    for (const HttpAnswer& answer : {cancelled, moved}) {
        EXPECT_EQ(answer.status, 409);
        EXPECT_EQ(answer.code(), "already_dispatched");
    }
    EXPECT_THAT(changed_by, ElementsAre("127.0.0.1", "127.0.0.1"));
}

WorkStory a_story() {
    const Route route{"pay.example", "https://pay.example/hooks"};
    Work work{.event_id = event("e"),
              .config = config("default"),
              .pool = pool("default"),
              .route = route,
              .target = TargetKind::Webhook,
              .scheduled = kNoon,
              .state = WorkState::Retrying,
              .due = kNoon + 6s,
              .attempts = 1};
    return {std::move(work), {{TargetKind::Webhook, "https://pay.example/hooks"}, route}, {}};
}

TEST_F(HttpDispatch, ShowsHowTheWorkOfAnEventStands) {
    ASSERT_EQ(assign_at_noon("e").status, 200);
    WorkStory story = a_story();
    story.work.expires = kNoon + 1h;
    story.audit = {
        {AuditLine::Action::Attempt, kNoon + 1s, 1, 500, 58ms, "node-1", "It answered 500.", "no\\x1b"},
        {AuditLine::Action::Moved, kNoon + 2s, 0, 0, {}, "127.0.0.1 admin token"}};
    works.stories.emplace("e", story);

    const auto answer = get("/api/v1/slots/e");

    EXPECT_THAT(
        answer.body,
        HasSubstr(R"(}],"work":{"state":"retrying","attempts":1,"nextAttempt":"2025-06-01T12:00:06.000Z",)"
                  R"("target":{"type":"webhook","url":"https://pay.example/hooks"},)"
                  R"("expires":"2025-06-01T13:00:00.000Z","audit":[{"action":"attempt",)"
                  R"("at":"2025-06-01T12:00:01.000Z","attempt":1,"status":500,"latencyMs":58,"by":"node-1",)"
                  R"("error":"It answered 500.","excerpt":"no\\x1b"},{"action":"moved",)"
                  R"("at":"2025-06-01T12:00:02.000Z","by":"127.0.0.1 admin token"}]}})"));
}

TEST_F(HttpDispatch, SaysNothingOfANextAttemptWhenThereIsNone) {
    ASSERT_EQ(assign_at_noon("e").status, 200);
    WorkStory story = a_story();
    story.work.state = WorkState::Dead;
    works.stories.emplace("e", story);

    EXPECT_THAT(get("/api/v1/slots/e").body, HasSubstr(R"("work":{"state":"dead","attempts":1,"target")"));
}

TEST_F(HttpDispatch, SetsAndShowsHowTheWorkOfAConfigGoesOut) {
    const std::string base = R"({"configName":"c","maxPerWindow":10,"windowSize":"PT4S")";

    const auto set = post("/admin/rate-limit/config",
                          base + R"(,"maxPerSecond":50,"rateHolds":"sender","expiresAfter":"PT1H",)"
                                 R"("retrySchedule":["PT5S","PT1M"]})");
    const auto once = post("/admin/rate-limit/config", base + R"(,"maxPerSecond":5,"retrySchedule":[]})");
    const auto usual = post("/admin/rate-limit/config", base + R"(,"retrySchedule":null})");

    EXPECT_THAT(set.body,
                HasSubstr(R"("past":"asSent","maxPerSecond":50,"rateHolds":"sender","expiresAfter":"PT1H",)"
                          R"("retrySchedule":["PT5S","PT1M"],"effectiveFrom")"));
    EXPECT_THAT(once.body,
                HasSubstr(R"("maxPerSecond":5,"rateHolds":"receiver","retrySchedule":[],"effective)"));
    EXPECT_THAT(usual.body, HasSubstr(R"("past":"asSent","effectiveFrom")"));
}

TEST_F(HttpDispatch, RefusesWrongTermsOfAConfig) {
    const std::string before = state();
    std::string many = R"("PT1S")";
    for (int i = 0; i < 32; ++i) {
        many += R"(,"PT1S")";
    }
    const std::vector<BadWork> wrongs{{R"("maxPerSecond":0)", "invalid_number"},
                                      {R"("maxPerSecond":100001)", "invalid_number"},
                                      {R"("maxPerSecond":null)", "invalid_number"},
                                      {R"("maxPerSecond":5,"rateHolds":"both")", "invalid_rate_holds"},
                                      {R"("rateHolds":"sender")", "invalid_rate_holds"},
                                      {R"("expiresAfter":"soon")", "invalid_duration"},
                                      {R"("retrySchedule":"PT5S")", "invalid_duration"},
                                      {R"("retrySchedule":[5])", "invalid_duration"},
                                      {R"("retrySchedule":["PT0S"])", "invalid_duration"},
                                      {R"("retrySchedule":[)" + many + "]", "invalid_duration"},
                                      {R"("calendar":"x")", "not_supported"}};

    for (const BadWork& wrong : wrongs) {
        const auto answer =
            post("/admin/rate-limit/config",
                 R"({"configName":"default","maxPerWindow":10,"windowSize":"PT4S",)" + wrong.fields + "}");
        EXPECT_EQ(answer.status, 400) << wrong.fields;
        EXPECT_EQ(answer.code(), wrong.code) << wrong.fields;
    }

    EXPECT_EQ(state(), before);
}

TEST_F(HttpDispatch, PagesThroughWork) {
    WorkStory story = a_story();
    works.page = {{story.work}, std::string{"\xff\0z", 3}};

    const auto first = get("/api/v1/work?state=retrying&configName=default&host=PAY.example&limit=1");
    const std::string expected =
        R"({"work":[{"eventId":"e","configName":"default","pool":"default","target":"webhook",)"
        R"("host":"pay.example","endpoint":"https://pay.example/hooks",)"
        R"("scheduledTime":"2025-06-01T12:00:00.000Z",)"
        R"("state":"retrying","attempts":1,"nextAttempt":"2025-06-01T12:00:06.000Z"}],"after":"ff007a"})";

    EXPECT_EQ(first.body, expected);
    EXPECT_EQ(works.filter.state, WorkState::Retrying);
    EXPECT_EQ(works.filter.config, config("default"));
    EXPECT_EQ(works.filter.host, "pay.example");
    EXPECT_EQ(works.filter.limit, 1U);
    EXPECT_EQ(works.filter.after, "");

    works.page = {};
    EXPECT_EQ(get("/api/v1/work?after=ff007a").body, R"({"work":[],"after":null})");
    EXPECT_EQ(works.filter.after, (std::string{"\xff\0z", 3}));
    EXPECT_EQ(works.filter.limit, 100U);
}

TEST_F(HttpDispatch, RefusesAWrongQuestionForWork) {
    for (const auto& [query, code] :
         std::vector<std::pair<std::string, std::string>>{{"state=lost", "invalid_state"},
                                                          {"state=", "invalid_state"},
                                                          {"configName=", "invalid_config_name"},
                                                          {"host=a%20b", "invalid_subject"},
                                                          {"after=xyz", "invalid_after"},
                                                          {"after=", "invalid_after"},
                                                          {"limit=0", "invalid_number"},
                                                          {"limit=1001", "invalid_number"},
                                                          {"limit=1x", "invalid_number"},
                                                          {"state=dead&state=dead", "malformed_request"}}) {
        const auto answer = get("/api/v1/work?" + query);
        EXPECT_EQ(answer.status, 400) << query;
        EXPECT_EQ(answer.code(), code) << query;
    }
}

TEST_F(HttpDispatch, ReplaysTheDeadThatAreNamed) {
    works.dead = 2;

    const auto by_id = post("/admin/dispatch/replay", R"({"eventIds":["a","b,c"]})");
    EXPECT_EQ(by_id.body, R"({"replayed":2})");
    EXPECT_THAT(works.replayed.event_ids, ElementsAre(event("a"), event("b,c")));

    EXPECT_EQ(post("/admin/dispatch/replay",
                   R"({"host":"Pay.Example","since":"2025-06-01T12:00:00Z","until":"2025-06-01T13:00:00Z"})")
                  .status,
              200);
    EXPECT_EQ(works.replayed.host, "pay.example");
    EXPECT_EQ(works.replayed.since, kNoon);
    EXPECT_EQ(works.replayed.until, kNoon + 1h);
    EXPECT_THAT(works.deeds, ElementsAre("replay by 127.0.0.1", "replay by 127.0.0.1"));
    EXPECT_TRUE(log_.has("INFO Audit - 127.0.0.1 replayed 2 dead works"));
}

TEST_F(HttpDispatch, PausesAndResumesWhoeverIsNamed) {
    EXPECT_EQ(post("/admin/dispatch/pause", R"({"configName":"Default"})").body,
              R"({"status":"paused","kind":"configName","name":"Default"})");
    EXPECT_EQ(post("/admin/dispatch/pause", R"({"pool":"p"})").status, 200);
    EXPECT_EQ(post("/admin/dispatch/pause", R"({"host":"PAY.example"})").status, 200);
    EXPECT_EQ(post("/admin/dispatch/pause", R"({"endpoint":"https://pay.example/hooks?x=1"})").status, 200);
    EXPECT_EQ(works.kept.holds.size(), 4U);

    EXPECT_EQ(post("/admin/dispatch/resume", R"({"host":"pay.example"})").body,
              R"({"status":"resumed","kind":"host","name":"pay.example"})");
    EXPECT_EQ(post("/admin/dispatch/resume", R"({"pool":"p"})").status, 200);

    EXPECT_THAT(
        works.deeds,
        ElementsAre("hold 1 Default by 127.0.0.1", "hold 2 p by 127.0.0.1", "hold 3 pay.example by 127.0.0.1",
                    "hold 4 https://pay.example/hooks by 127.0.0.1", "release 3 pay.example by 127.0.0.1",
                    "release 4 https://pay.example/hooks by 127.0.0.1", "release 2 p by 127.0.0.1"));
    EXPECT_TRUE(log_.has("INFO Audit - 127.0.0.1 paused dispatch to host pay.example"));
}

TEST_F(HttpDispatch, NamesTheTokenOfWhoeverDidIt) {
    const TempFolder folder;
    std::ofstream{folder / "token"} << kToken << "\n";
    ASSERT_TRUE(gate_.load(folder / "token"));
    const std::string body = R"({"pool":"p"})";

    RawHttp http{port()};
    http.send(request_text("POST", "/admin/dispatch/pause", body,
                           "Content-Type: application/json\r\nAuthorization: Bearer " + kToken + "\r\n"));
    ASSERT_EQ(http.read().value().status, 200);

    EXPECT_THAT(works.deeds, ElementsAre("hold 2 p by 127.0.0.1 admin token"));
    for (const char* path : {"replay", "pause", "resume"}) {
        EXPECT_EQ(post("/admin/dispatch/" + std::string{path}, body).status, 401) << path;
    }
    EXPECT_EQ(get("/admin/dispatch").status, 401);
    EXPECT_EQ(put("/admin/dispatch/rates", R"({"pool":"p","maxPerSecond":1})").status, 401);
}

TEST_F(HttpDispatch, GivesAndTakesRates) {
    EXPECT_EQ(put("/admin/dispatch/rates", R"({"host":"pay.example","maxPerSecond":20})").body,
              R"({"kind":"host","name":"pay.example","maxPerSecond":20,"rateHolds":"receiver"})");
    EXPECT_EQ(put("/admin/dispatch/rates", R"({"pool":"p","maxPerSecond":5,"rateHolds":"sender"})").status,
              200);
    EXPECT_EQ(works.kept.gates.at({SubjectKind::Pool, "p"}), (GateTerms{5, RateHolds::Sender}));

    EXPECT_EQ(put("/admin/dispatch/rates", R"({"pool":"p","maxPerSecond":null})").body,
              R"({"kind":"pool","name":"p","maxPerSecond":null})");
    EXPECT_EQ(works.kept.gates.size(), 1U);
}

TEST_F(HttpDispatch, ShowsHowDispatchStands) {
    const Subject host{SubjectKind::Host, "pay.example"};
    works.kept.holds[{SubjectKind::Endpoint, "https://pay.example/hooks"}] = {Hold::Why::Gone, kNoon,
                                                                              "node-1"};
    works.kept.gates[host] = {20};
    works.kept.gates[{SubjectKind::Pool, "p"}] = {5, RateHolds::Sender};
    works.lane_counts = {{LaneKind::Due, 12}, {LaneKind::Dead, 1}};
    figures = {3, 1, {{host, {20}, 7}}};

    EXPECT_EQ(get("/admin/dispatch").body,
              R"({"holds":[{"kind":"endpoint","name":"https://pay.example/hooks","why":"gone",)"
              R"("since":"2025-06-01T12:00:00.000Z","by":"node-1"}],"gates":[{"kind":"pool","name":"p",)"
              R"("maxPerSecond":5,"rateHolds":"sender","used":0},{"kind":"host","name":"pay.example",)"
              R"("maxPerSecond":20,"rateHolds":"receiver","used":7}],"counts":{"due":12,"pool":0,"late":0,)"
              R"("host":0,)"
              R"("endpoint":0,"config":0,"claimed":0,"dead":1},"inFlight":3,"failingEndpoints":1})");
}

struct BadDeed {
    std::string method;
    std::string target;
    std::string body;
    std::string code;
};

std::vector<BadDeed> bad_deeds() {
    std::string many = R"("e")";
    for (int i = 0; i < 1000; ++i) {
        many += R"(,"e")";
    }
    std::vector<BadDeed> deeds{
        {"POST", "replay", "{}", "invalid_subject"},
        {"POST", "replay", R"({"eventIds":[]})", "invalid_events"},
        {"POST", "replay", R"({"eventIds":"e"})", "invalid_events"},
        {"POST", "replay", R"({"eventIds":[)" + many + "]}", "invalid_events"},
        {"POST", "replay", R"({"eventIds":[7]})", "invalid_event_id"},
        {"POST", "replay", R"({"host":""})", "invalid_subject"},
        {"POST", "replay", R"({"host":null})", "invalid_subject"},
        {"POST", "replay", R"({"since":"yesterday"})", "invalid_time"},
        {"POST", "replay", R"({"until":"2099-01-01T00:00:00Z"})", "time_out_of_range"},
        {"POST", "replay", R"({"eventId":"e"})", "unknown_field"},
        {"POST", "replay", "[]", "malformed_json"},
        {"PUT", "rates", R"({"maxPerSecond":5})", "invalid_subject"},
        {"PUT", "rates", R"({"host":"a","pool":"b","maxPerSecond":5})", "invalid_subject"},
        {"PUT", "rates", R"({"host":"a"})", "invalid_number"},
        {"PUT", "rates", R"({"host":"a","maxPerSecond":0})", "invalid_number"},
        {"PUT", "rates", R"({"host":"a","maxPerSecond":100001})", "invalid_number"},
        {"PUT", "rates", R"({"host":"a","maxPerSecond":5,"rateHolds":"x"})", "invalid_rate_holds"},
        {"PUT", "rates", R"({"endpoint":"http://a/","maxPerSecond":5})", "unknown_field"},
    };
    for (const char* what : {"pause", "resume"}) {
        deeds.push_back({"POST", what, "{}", "invalid_subject"});
        deeds.push_back({"POST", what, R"({"pool":"a","host":"b"})", "invalid_subject"});
        deeds.push_back({"POST", what, R"({"pool":""})", "invalid_subject"});
        deeds.push_back({"POST", what, R"({"host":"a b"})", "invalid_subject"});
        deeds.push_back({"POST", what, R"({"host":7})", "invalid_subject"});
        deeds.push_back({"POST", what, R"({"endpoint":"pay.example/hooks"})", "invalid_subject"});
        deeds.push_back({"POST", what, R"({"hosts":"a"})", "unknown_field"});
    }
    return deeds;
}

TEST_F(HttpDispatch, RefusesDeedsThatNameNobodyOrTooMany) {
    for (const BadDeed& bad : bad_deeds()) {
        SCOPED_TRACE(bad.target + " " + bad.body.substr(0, 80));
        const auto answer = call(port(), bad.method, "/admin/dispatch/" + bad.target, bad.body);

        EXPECT_EQ(answer.status, 400);
        EXPECT_EQ(answer.code(), bad.code) << answer.body;
        EXPECT_EQ(answer.header("content-type"), "application/problem+json");
    }

    EXPECT_TRUE(works.deeds.empty());
}

TEST_F(HttpDispatch, SaysWhenTheStoreCannotAnswer) {
    works.fails = true;

    for (const HttpAnswer& answer :
         {get("/api/v1/work"), get("/admin/dispatch"), post("/admin/dispatch/replay", R"({"host":"a"})"),
          post("/admin/dispatch/pause", R"({"host":"a"})"), post("/admin/dispatch/resume", R"({"host":"a"})"),
          put("/admin/dispatch/rates", R"({"host":"a","maxPerSecond":1})")}) {
        EXPECT_EQ(answer.status, 503);
        EXPECT_EQ(answer.code(), "store_unavailable");
        EXPECT_EQ(answer.header("retry-after"), "1");
        EXPECT_THAT(answer.body, Not(HasSubstr("disk")));
    }
}

// A door whose store keeps none.
class HttpWithoutWork : public DoorFixture {};

TEST_F(HttpWithoutWork, RefusesEveryRouteOfDispatch) {
    for (const HttpAnswer& answer :
         {get("/api/v1/work"), get("/admin/dispatch"), post("/admin/dispatch/replay", R"({"host":"a"})"),
          post("/admin/dispatch/pause", R"({"host":"a"})"), post("/admin/dispatch/resume", R"({"host":"a"})"),
          call(port(), "PUT", "/admin/dispatch/rates", R"({"host":"a","maxPerSecond":1})")}) {
        EXPECT_EQ(answer.status, 400);
        EXPECT_EQ(answer.code(), "not_supported");
    }
}

TEST_F(HttpWithoutWork, RefusesTermsOfDispatchInAConfig) {
    EXPECT_EQ(post("/admin/rate-limit/config",
                   R"({"configName":"c","maxPerWindow":1,"windowSize":"PT4S","retrySchedule":[]})")
                  .code(),
              "not_supported");
}

}  // namespace
}  // namespace sluice::test
