// A known event is answered before anything else is looked at, however it is asked for.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/door_fixture.hpp"

namespace sluice::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kTime = R"("requestedTime":"2025-06-01T12:00:00Z")";

// Fields of an event that are wrong, and what an unknown event is told about them.
struct Wrong {
    std::string fields;
    int status;
    std::string code;
};

std::vector<Wrong> wrong_values() {
    return {
        {R"("requestedTime":"never")", 400, "invalid_time"},
        {R"("requestedTime":null)", 400, "invalid_time"},
        {R"("requestedTime":{"at":[5]})", 400, "invalid_time"},
        {R"("requestedTime":"1969-12-31T23:59:59Z")", 400, "time_out_of_range"},
        {R"("requestedTime":"2999-01-01T00:00:00Z")", 400, "time_out_of_range"},
        {R"("weight":1)", 400, "invalid_time"},  // Without a time at all.
        {kTime + R"(,"configName":"nope")", 404, "config_not_found"},
        {kTime + R"(,"configName":"")", 400, "invalid_config_name"},
        {kTime + R"(,"configName":5)", 400, "invalid_config_name"},
        {kTime + R"(,"weight":11)", 400, "weight_above_cap"},
        {kTime + R"(,"weight":0)", 400, "invalid_number"},
        {kTime + R"(,"weight":"5")", 400, "invalid_number"},
        {kTime + R"(,"weight":18446744073709551616)", 400, "invalid_number"},
        {kTime + R"(,"maxDelay":"P1M")", 400, "invalid_duration"},
        {kTime + R"(,"maxDelay":true)", 400, "invalid_duration"},
        {kTime + R"(,"target":{"type":"log"})", 400, "not_supported"},
        {kTime + R"(,"payload":[1.5,null])", 400, "not_supported"},
        {kTime + R"(,"expiresAfter":"never")", 400, "not_supported"},
        {kTime + R"(,"configNames":[])", 400, "not_supported"},
    };
}

// How an event can be asked for. Each way has the text of an event, and tells what became of it.
enum class Way { Single, Batch, Stream };
constexpr std::array kWays{Way::Single, Way::Batch, Way::Stream};

std::string name_of(Way way) {
    return way == Way::Single ? "alone" : way == Way::Batch ? "in a batch" : "in a stream";
}

struct Told {
    int status;
    std::string body;  // The slot, or the error.
};

std::string event_text(const std::string& id, const std::string& fields) {
    return R"({"eventId":")" + id + "\"," + fields + "}";
}

class KnownEventDoor : public DoorFixture {
protected:
    using DoorFixture::DoorFixture;

    Told ask(Way way, const std::string& event) const {
        if (way == Way::Single) {
            const HttpAnswer answer = post("/api/v1/slots", event);
            return {answer.status, answer.body};
        }
        const std::string body =
            way == Way::Batch ? inside(post("/api/v1/slots/batch", R"({"events":[)" + event + "]}").body)
                              : stream(event + "\n");
        return {status_of(body), body};
    }
    // All lines of the answer.
    std::string stream(const std::string& lines) const {
        RawHttp http{port()};
        http.send(
            request_text("POST", "/api/v1/slots/stream", lines, "Content-Type: application/x-ndjson\r\n"));
        std::string body = http.read().value().body;
        if (body.ends_with('\n')) {
            body.pop_back();
        }
        return body;
    }
    HttpAnswer batch(const std::string& fields, const std::string& events) const {
        return post("/api/v1/slots/batch", "{" + fields + R"(,"events":[)" + events + "]}");
    }
    void expect(const Told& told, int status, const std::string& code) {
        EXPECT_EQ(told.status, status) << told.body;
        EXPECT_THAT(told.body, HasSubstr(R"("code":")" + code + "\""));
    }
    std::string assigned(const std::string& id) const {
        const HttpAnswer answer = assign_at_noon(id);
        EXPECT_EQ(answer.status, 200) << answer.body;
        return answer.body;
    }
    std::string cancelled(const std::string& id) const {
        const std::string slot = assigned(id);
        EXPECT_EQ(call(port(), "DELETE", "/api/v1/slots/" + id).status, 204);
        return slot;
    }

private:
    static std::string inside(const std::string& results) {
        const std::string head = R"({"results":[)";
        return results.starts_with(head) ? results.substr(head.size(), results.size() - head.size() - 2)
                                         : results;
    }
    // Inside batches and streams an error tells its own.
    static int status_of(const std::string& body) {
        const std::string field = R"("status":)";
        const auto at = body.find(field);
        return at == std::string::npos ? 200 : std::stoi(body.substr(at + field.size()));
    }
};

class StrictKnownEventDoor : public KnownEventDoor {
protected:
    StrictKnownEventDoor() : KnownEventDoor{{}, LedgerOptions{std::chrono::seconds{5}, true, 1}} {}
};

TEST_F(KnownEventDoor, GetsItsSlotWhateverItsValuesAre) {
    const std::string slot = assigned("known");
    const std::string before = state();

    for (const Way way : kWays) {
        for (const Wrong& wrong : wrong_values()) {
            SCOPED_TRACE(name_of(way) + " " + wrong.fields);
            const Told told = ask(way, event_text("known", wrong.fields));

            EXPECT_EQ(told.status, 200);
            EXPECT_EQ(told.body, slot);
        }
    }
    EXPECT_EQ(state(), before);
}

TEST_F(KnownEventDoor, IsNotToldWhatAnUnknownOneIs) {
    const std::string before = state();

    for (const Way way : kWays) {
        for (const Wrong& wrong : wrong_values()) {
            SCOPED_TRACE(name_of(way) + " " + wrong.fields);
            expect(ask(way, event_text("unknown", wrong.fields)), wrong.status, wrong.code);
        }
    }
    EXPECT_EQ(get("/api/v1/slots/unknown").status, 404);
    EXPECT_EQ(state(), before);
}

TEST_F(KnownEventDoor, StaysCancelledWhateverItsValuesAre) {
    cancelled("gone");

    for (const Way way : kWays) {
        for (const Wrong& wrong : wrong_values()) {
            SCOPED_TRACE(name_of(way) + " " + wrong.fields);
            expect(ask(way, event_text("gone", wrong.fields)), 409, "cancelled");
        }
    }
}

TEST_F(StrictKnownEventDoor, TakesWrongValuesForAnotherBody) {
    const std::string slot = assigned("known");
    cancelled("gone");

    for (const Way way : kWays) {
        for (const Wrong& wrong : wrong_values()) {
            SCOPED_TRACE(name_of(way) + " " + wrong.fields);
            expect(ask(way, event_text("known", wrong.fields)), 422, "different_body");
            expect(ask(way, event_text("gone", wrong.fields)), 409, "cancelled");
            expect(ask(way, event_text("unknown", wrong.fields)), wrong.status, wrong.code);
        }
        EXPECT_EQ(ask(way, event_text("known", kTime)).body, slot);
    }
}

TEST_F(KnownEventDoor, IsRefusedInAnyCaseForMalformedJsonAndUnknownFields) {
    assigned("known");

    for (const Way way : kWays) {
        SCOPED_TRACE(name_of(way));
        expect(ask(way, event_text("known", kTime + R"(,"weigth":1)")), 400, "unknown_field");
        expect(ask(way, event_text("known", R"("requestedTime":"never","weigth":1)")), 400, "unknown_field");
        expect(ask(way, event_text("known", kTime + R"(,"weight":1,"weight":1)")), 400, "malformed_json");
        expect(ask(way, event_text("known", R"("requestedTime":)")), 400, "malformed_json");
        expect(ask(way, event_text("known", kTime + R"(,"weight":NaN)")), 400, "invalid_number");
    }
}

TEST_F(KnownEventDoor, MustBeNamedByAValidId) {
    for (const Way way : kWays) {
        for (const char* id :
             {R"("eventId":"",)", R"("eventId":7,)", R"("eventId":null,)", R"("eventId":"a\u0000b",)", ""}) {
            SCOPED_TRACE(name_of(way) + " " + id);
            expect(ask(way, "{" + std::string{id} + R"("requestedTime":"never"})"), 400, "invalid_event_id");
        }
    }
}

TEST_F(KnownEventDoor, IsKnownToTheLinesBehindIt) {
    const std::string wrong = event_text("e", R"("requestedTime":"never")");

    const std::string stream_lines = stream(wrong + "\n" + event_text("e", kTime) + "\n" + wrong + "\n");

    const std::string slot = assigned("e");
    EXPECT_THAT(stream_lines, StartsWith(R"({"eventId":"e","error":{"code":"invalid_time")"));
    EXPECT_TRUE(stream_lines.ends_with("\n" + slot + "\n" + slot)) << stream_lines;
}

TEST_F(KnownEventDoor, IsAnsweredThoughTheBatchItselfIsWrong) {
    const std::string slot = assigned("known");
    cancelled("gone");
    const std::string before = state();
    const std::string known = R"({"eventId":"known"})";
    const std::string both = known + R"(,{"eventId":"unknown"},{"eventId":"gone"})";

    for (const auto& [fields, code] : std::vector<std::pair<std::string, std::string>>{
             {R"("requestedTime":"never")", "invalid_time"},
             {kTime + R"(,"configName":7)", "invalid_config_name"},
             {kTime + R"(,"atomic":"yes")", "invalid_flag"},
             {kTime + R"(,"target":{})", "not_supported"}}) {
        SCOPED_TRACE(fields);
        const auto alone = batch(fields, known);
        const auto mixed = batch(fields, both);
        const auto unknown = batch(fields, R"({"eventId":"unknown",)" + kTime + "}");

        EXPECT_EQ(alone.status, 200);
        EXPECT_EQ(alone.body, R"({"results":[)" + slot + "]}");
        EXPECT_EQ(mixed.status, 200);
        EXPECT_THAT(mixed.body, StartsWith(R"({"results":[)" + slot +
                                           R"(,{"eventId":"unknown","error":{"code":")" + code + "\""));
        EXPECT_THAT(mixed.body, HasSubstr(R"({"eventId":"gone","error":{"code":"cancelled")"));
        EXPECT_EQ(unknown.status, 400);
        EXPECT_EQ(unknown.code(), code);
    }
    EXPECT_EQ(batch(R"("requestedTime":"never","atomc":true)", known).code(), "unknown_field");
    EXPECT_EQ(state(), before);
}

TEST_F(KnownEventDoor, IsAnsweredFirstInAnAtomicBatch) {
    const std::string slot = assigned("known");
    cancelled("gone");
    const std::string before = state();
    const std::string atomic = R"("atomic":true,)" + kTime;
    const std::string known = R"({"eventId":"known","weight":-1})";

    const auto all_known = batch(atomic, known + "," + known);
    const auto with_unknown =
        batch(atomic, R"({"eventId":"new"},)" + known + R"(,{"eventId":"bad","weight":0})");
    const auto with_gone =
        batch(atomic, known + R"(,{"eventId":"gone","weight":0},{"eventId":"bad","weight":0})");
    const auto wrong_as_a_whole =
        batch(R"("atomic":true,"requestedTime":"never")", known + R"(,{"eventId":"bad"})");
    const auto known_in_a_wrong_one = batch(R"("atomic":true,"requestedTime":"never")", known);

    EXPECT_EQ(all_known.body, R"({"results":[)" + slot + "," + slot + "]}");
    EXPECT_EQ(with_unknown.status, 400);
    EXPECT_EQ(with_unknown.code(), "invalid_number");
    EXPECT_THAT(with_unknown.body, HasSubstr("Event 3 of the batch: "));
    EXPECT_EQ(with_gone.status, 409);
    EXPECT_EQ(with_gone.code(), "cancelled");
    EXPECT_THAT(with_gone.body, HasSubstr("event 'gone' failed first"));
    EXPECT_EQ(wrong_as_a_whole.status, 400);
    EXPECT_EQ(wrong_as_a_whole.code(), "invalid_time");
    EXPECT_EQ(known_in_a_wrong_one.body, R"({"results":[)" + slot + "]}");
    EXPECT_EQ(get("/api/v1/slots/new").status, 404);
    EXPECT_EQ(state(), before);
}

}  // namespace
}  // namespace sluice::test
