// The table of bad input: what each gets, and that it changes nothing.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/door_fixture.hpp"

namespace sluice::test {
namespace {

struct BadCase {
    std::string what;
    std::string request;  // The bytes as sent.
    int status;
    std::string code;  // Empty: not looked at.
};

std::string assign_text(const std::string& body) { return request_text("POST", "/api/v1/slots", body); }
std::string config_text(const std::string& body) {
    return request_text("POST", "/admin/rate-limit/config", body);
}
std::string with_time(const std::string& time) {
    return assign_text(R"({"eventId":"bad","requestedTime":")" + time + R"("})");
}
std::string with_id(const std::string& id) {
    return assign_text(R"({"eventId":")" + id + R"(","requestedTime":"2025-06-01T12:00:00Z"})");
}
std::string with_weight(const std::string& weight) {
    return assign_text(R"({"eventId":"bad","requestedTime":"2025-06-01T12:00:00Z","weight":)" + weight + "}");
}
std::string with_max(const std::string& max) {
    return config_text(R"({"configName":"default","windowSize":"PT4S","maxPerWindow":)" + max + "}");
}
std::string with_size(const std::string& size) {
    return config_text(R"({"configName":"other","maxPerWindow":5,"windowSize":")" + size + R"("})");
}
std::string raw(const std::string& head, const std::string& body = {}) {
    return "POST /api/v1/slots HTTP/1.1\r\n" + head + "\r\n\r\n" + body;
}

const std::string kGoodBody = R"({"eventId":"bad","requestedTime":"2025-06-01T12:00:00Z"})";
const std::string kLength = std::to_string(kGoodBody.size());

std::vector<BadCase> size_cases() {
    std::string many_headers;
    for (int i = 0; i < 101; ++i) {
        many_headers += "X-H" + std::to_string(i) + ": v\r\n";
    }
    return {
        {"body above 64 KiB", with_id(std::string(70'000, 'x')), 413, "body_too_large"},
        {"event id of 1 MB, unread", raw("Host: t\r\nContent-Length: 1048576"), 413, "body_too_large"},
        {"chunked body above 64 KiB",
         raw("Host: t\r\nTransfer-Encoding: chunked",
             "20000\r\n" + std::string(0x20000, 'x') + "\r\n0\r\n\r\n"),
         413, "body_too_large"},
        {"batch above 16 MiB",
         "POST /api/v1/slots/batch HTTP/1.1\r\nHost: t\r\nContent-Length: 16777217\r\n\r\n", 413,
         "body_too_large"},
        {"headers above 16 KiB", raw("Host: t\r\nX: " + std::string(17'000, 'x')), 431, ""},
        {"more than 100 headers", "GET /healthz HTTP/1.1\r\nHost: t\r\n" + many_headers + "\r\n", 431, ""},
        {"URI above 8 KiB", "GET /" + std::string(9'000, 'x') + " HTTP/1.1\r\nHost: t\r\n\r\n", 414, ""},
    };
}

std::vector<BadCase> framing_cases() {
    return {
        {"length and encoding", raw("Host: t\r\nContent-Length: 5\r\nTransfer-Encoding: chunked"), 400, ""},
        {"two different lengths", raw("Host: t\r\nContent-Length: 5\r\nContent-Length: 6"), 400, ""},
        {"two equal lengths",
         raw("Host: t\r\nContent-Length: " + kLength + "\r\nContent-Length: " + kLength, kGoodBody), 400, ""},
        {"a list of lengths", raw("Host: t\r\nContent-Length: 2, 2", "{}"), 400, ""},
        {"a signed length", raw("Host: t\r\nContent-Length: +5", "{}"), 400, ""},
        {"a hexadecimal length", raw("Host: t\r\nContent-Length: 0x5", "{}"), 400, ""},
        {"a bare line feed", "GET /healthz HTTP/1.1\nHost: t\n\n", 400, ""},
        {"a bare line feed between headers", "GET /healthz HTTP/1.1\r\nHost: t\nX: y\r\n\r\n", 400, ""},
        {"a folded header", "GET /healthz HTTP/1.1\r\nHost: t\r\nX: a\r\n b\r\n\r\n", 400, ""},
        {"a space before the colon", "GET /healthz HTTP/1.1\r\nHost : t\r\n\r\n", 400, ""},
        {"no Host", "GET /healthz HTTP/1.1\r\nX: y\r\n\r\n", 400, ""},
        {"two Hosts", "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, ""},
        {"NUL in a header", "GET /healthz HTTP/1.1\r\nHost: t\r\nX: a" + std::string(1, '\0') + "b\r\n\r\n",
         400, ""},
        {"a chunk size that overflows",
         raw("Host: t\r\nTransfer-Encoding: chunked", "fffffffffffffffff\r\nx\r\n0\r\n\r\n"), 400, ""},
        {"a chunk size that is none", raw("Host: t\r\nTransfer-Encoding: chunked", "xyz\r\nx\r\n0\r\n\r\n"),
         400, ""},
        {"an unknown encoding", raw("Host: t\r\nTransfer-Encoding: gzip"), 501, "encoding_not_supported"},
        {"encodings in a list", raw("Host: t\r\nTransfer-Encoding: gzip, chunked"), 501,
         "encoding_not_supported"},
        {"an unknown version", "GET /healthz HTTP/2.0\r\nHost: t\r\n\r\n", 505, "version_not_supported"},
        {"no version", "GET /healthz\r\nHost: t\r\n\r\n", 400, ""},
        {"no request line", "\r\n\r\n", 400, ""},
    };
}

std::vector<BadCase> routing_cases() {
    return {
        {"a trailing slash", request_text("POST", "/api/v1/slots/", kGoodBody), 404, "not_found"},
        {"a config without a type",
         request_text("POST", "/admin/rate-limit/config",
                      R"({"configName":"default","maxPerWindow":7,"windowSize":"PT4S"})", ""),
         415, "type_not_supported"},
        {"an unknown path", request_text("GET", "/nothing"), 404, "not_found"},
        {"an unknown method", request_text("PUT", "/api/v1/slots", kGoodBody), 405, "method_not_allowed"},
        {"a method of nobody's", request_text("BREW", "/api/v1/slots"), 405, "method_not_allowed"},
        {"another type", request_text("POST", "/api/v1/slots", kGoodBody, "Content-Type: text/plain\r\n"),
         415, "type_not_supported"},
        {"an unknown event", request_text("GET", "/api/v1/slots/nobody"), 404, "event_not_found"},
        {"cancelling an unknown event", request_text("DELETE", "/api/v1/slots/nobody"), 404,
         "event_not_found"},
        {"a broken percent-encoding", request_text("GET", "/api/v1/slots/%zz"), 400, "invalid_event_id"},
        {"NUL in the path", request_text("GET", "/api/v1/slots/a%00b"), 400, "invalid_event_id"},
        {"invalid UTF-8 in the path", request_text("GET", "/api/v1/slots/%ff"), 400, "invalid_event_id"},
        {"an unknown config",
         assign_text(R"({"eventId":"bad","configName":"nope","requestedTime":"2025-06-01T12:00:00Z"})"), 404,
         "config_not_found"},
        {"windows without a range", request_text("GET", "/api/v1/windows"), 400, "invalid_time"},
        {"too many windows",
         request_text("GET", "/api/v1/windows?from=2025-06-01T00:00:00Z&to=2025-07-01T00:00:00Z"), 400,
         "range_too_large"},
    };
}

std::vector<BadCase> json_cases() {
    const std::string id_text = R"("requestedTime":"2025-06-01T12:00:00Z")";
    std::string deep;
    for (int i = 0; i < 17; ++i) {
        deep += R"({"a":)";
    }
    deep += "1" + std::string(17, '}');
    return {
        {"an empty body", assign_text(""), 400, "malformed_json"},
        {"an array", assign_text("[]"), 400, "malformed_json"},
        {"a truncated object", assign_text(R"({"eventId":"bad")"), 400, "malformed_json"},
        {"trailing bytes", assign_text(kGoodBody + "x"), 400, "malformed_json"},
        {"a second value", assign_text(kGoodBody + "{}"), 400, "malformed_json"},
        {"a byte order mark", assign_text("\xEF\xBB\xBF" + kGoodBody), 400, "malformed_json"},
        {"invalid UTF-8", assign_text("{\"eventId\":\"\xff\"," + id_text + "}"), 400, "malformed_json"},
        {"an overlong form", assign_text("{\"eventId\":\"\xc0\xaf\"," + id_text + "}"), 400,
         "malformed_json"},
        {"a lone surrogate", assign_text(R"({"eventId":"\ud800",)" + id_text + "}"), 400, "malformed_json"},
        {"deeper than 16", assign_text(deep), 400, "malformed_json"},
        {"a comment", assign_text("/* */" + kGoodBody), 400, "malformed_json"},
        {"a trailing comma", assign_text(R"({"eventId":"bad",})"), 400, "malformed_json"},
        {"a repeated key", assign_text(R"({"eventId":"a","eventId":"bad",)" + id_text + "}"), 400,
         "malformed_json"},
        {"a repeated key, escaped", assign_text(R"({"eventId":"a","\u0065ventId":"bad",)" + id_text + "}"),
         400, "malformed_json"},
        {"NaN", with_weight("NaN"), 400, "invalid_number"},
        {"-Infinity", with_weight("-Infinity"), 400, "invalid_number"},
        {"an empty event id", with_id(""), 400, "invalid_event_id"},
        {"an event id of 256 bytes", with_id(std::string(256, 'x')), 400, "invalid_event_id"},
        {"NUL in an event id", with_id(R"(a\u0000b)"), 400, "invalid_event_id"},
        {"CRLF in an event id", with_id(R"(a\r\nb)"), 400, "invalid_event_id"},
        {"a protocol in an event id", with_id(R"(*1\r\n$8\r\nFLUSHALL\r\n)"), 400, "invalid_event_id"},
        {"an event id that is a number", assign_text(R"({"eventId":5,)" + id_text + "}"), 400,
         "invalid_event_id"},
        {"no event id", assign_text("{" + id_text + "}"), 400, "invalid_event_id"},
        {"a config name of 129 bytes",
         assign_text(R"({"eventId":"bad","configName":")" + std::string(129, 'x') + "\"," + id_text + "}"),
         400, "invalid_config_name"},
        {"what is not built", assign_text(R"({"eventId":"bad","target":{"type":"log"},)" + id_text + "}"),
         400, "not_supported"},
        {"payloads, not built", assign_text(R"({"eventId":"bad","payload":1,)" + id_text + "}"), 400,
         "not_supported"},
        {"several configs, not built",
         assign_text(R"({"eventId":"bad","configNames":["a"],)" + id_text + "}"), 400, "not_supported"},
    };
}

std::vector<BadCase> time_and_duration_cases() {
    std::vector<BadCase> cases;
    for (const char* time :
         {"2025-06-30T23:59:60Z", "2025-06-01T12:00:00", "2025-06-01T24:00:00Z", "2025-02-30T12:00:00Z",
          "2025-06-01 12:00:00Z", "2025-06-01T12:00Z", "2025-6-1T12:00:00Z", "2025-06-01T12:00:00+0530",
          "2025-06-01T12:00:00.Z", "1748779200", "", "2025-06-01T12:00:00Zx", "+2025-06-01T12:00:00Z"}) {
        cases.push_back({std::string{"time "} + time, with_time(time), 400, "invalid_time"});
    }
    cases.push_back({"before 1970", with_time("1969-12-31T23:59:59Z"), 400, "time_out_of_range"});
    cases.push_back(
        {"before 1970 by offset", with_time("1970-01-01T00:30:00+01:00"), 400, "time_out_of_range"});
    cases.push_back(
        {"more than ten years ahead", with_time("2035-06-05T12:00:00Z"), 400, "time_out_of_range"});
    cases.push_back({"no time", assign_text(R"({"eventId":"bad"})"), 400, "invalid_time"});
    for (const char* size : {"PT0S", "-PT4S", "P1M", "P1Y", "PT0.0001S", "P32D", "PT", "P", "4S", "PT4",
                             "PT1.5M", "P1W", "PT4S ", "pt4s", "PT9999999999999999999S"}) {
        cases.push_back({std::string{"window size "} + size, with_size(size), 400, "invalid_duration"});
        cases.push_back(
            {std::string{"max delay "} + size,
             assign_text(R"({"eventId":"bad","requestedTime":"2025-06-01T12:00:00Z","maxDelay":")" +
                         std::string{size} + R"("})"),
             400, "invalid_duration"});
    }
    return cases;
}

std::vector<BadCase> number_cases() {
    std::vector<BadCase> cases;
    for (const char* number : {"0", "-1", "1.0", "1e2", "18446744073709551616", "9223372036854775808",
                               "\"5\"", "null", "true", "[]", "1000000001"}) {
        cases.push_back({std::string{"weight "} + number, with_weight(number), 400, "invalid_number"});
        cases.push_back({std::string{"maxPerWindow "} + number, with_max(number), 400, "invalid_number"});
    }
    cases.push_back({"a weight above the cap", with_weight("11"), 400, "weight_above_cap"});
    cases.push_back({"no maxPerWindow", config_text(R"({"configName":"default","windowSize":"PT4S"})"), 400,
                     "invalid_number"});
    cases.push_back({"no window size", config_text(R"({"configName":"default","maxPerWindow":5})"), 400,
                     "invalid_duration"});
    cases.push_back(
        {"sizes that disagree",
         config_text(R"({"configName":"o","maxPerWindow":5,"windowSize":"PT4S","windowSizeSecs":5})"), 400,
         "invalid_duration"});
    cases.push_back({"an unknown field",
                     config_text(R"({"configName":"o","maxPerWindow":5,"windowSize":"PT4S","x":1})"), 400,
                     "unknown_field"});
    cases.push_back({"an empty config name",
                     config_text(R"({"configName":"","maxPerWindow":5,"windowSize":"PT4S"})"), 400,
                     "invalid_config_name"});
    cases.push_back(
        {"a spread that is none",
         config_text(R"({"configName":"o","maxPerWindow":5,"windowSize":"PT4S","spread":"even"})"), 400,
         "invalid_spread"});
    cases.push_back(
        {"more cells than there may be",
         config_text(R"({"configName":"o","maxPerWindow":4097,"windowSize":"PT1H","spread":"stratified"})"),
         400, "invalid_spread"});
    cases.push_back(
        {"cells below a millisecond",
         config_text(R"({"configName":"o","maxPerWindow":101,"windowSize":"PT0.1S","spread":"stratified"})"),
         400, "invalid_spread"});
    cases.push_back({"a past that is none",
                     config_text(R"({"configName":"o","maxPerWindow":5,"windowSize":"PT4S","past":"later"})"),
                     400, "invalid_past"});
    for (const char* later : {R"("calendar":"x")", R"("maxPerSecond":5)", R"("rateHolds":"sender")",
                              R"("expiresAfter":"PT1H")"}) {
        cases.push_back({std::string{"not built: "} + later,
                         config_text(R"({"configName":"o","maxPerWindow":5,"windowSize":"PT4S",)" +
                                     std::string{later} + "}"),
                         400, "not_supported"});
    }
    return cases;
}

class BadInput : public DoorFixture {
protected:
    void expect_refused(const std::vector<BadCase>& cases) {
        EXPECT_EQ(assign_at_noon("known").status, 200);
        const std::string before = state();
        for (const BadCase& bad : cases) {
            SCOPED_TRACE(bad.what);
            RawHttp http{port()};
            http.try_send(bad.request);
            const auto answer = http.read();

            ASSERT_TRUE(answer.has_value());
            EXPECT_EQ(answer->status, bad.status) << answer->body;
            EXPECT_EQ(answer->header("content-type"), "application/problem+json");
            EXPECT_FALSE(answer->code().empty());
            if (!bad.code.empty()) {
                EXPECT_EQ(answer->code(), bad.code) << answer->body;
            }
            EXPECT_EQ(get("/api/v1/slots/bad").status, 404);
        }
        EXPECT_EQ(state(), before);
    }
};

TEST_F(BadInput, OfWrongSizeIsRefusedUnread) { expect_refused(size_cases()); }
TEST_F(BadInput, OfAmbiguousFramingIsRefused) { expect_refused(framing_cases()); }
TEST_F(BadInput, ForPathsMethodsAndTypesThatAreNotThereIsRefused) { expect_refused(routing_cases()); }
TEST_F(BadInput, OfBrokenJsonIsRefused) { expect_refused(json_cases()); }
TEST_F(BadInput, OfTimesAndDurationsIsRefused) { expect_refused(time_and_duration_cases()); }
TEST_F(BadInput, OfNumbersAndConfigsIsRefused) { expect_refused(number_cases()); }

TEST_F(BadInput, ThatBreaksTheFramingClosesTheConnection) {
    for (const BadCase& bad : framing_cases()) {
        SCOPED_TRACE(bad.what);
        RawHttp http{port()};
        http.try_send(bad.request);
        const auto answer = http.read();

        ASSERT_TRUE(answer.has_value());
        EXPECT_EQ(answer->header("connection"), "close");
        EXPECT_TRUE(http.closed());
    }
}

TEST_F(BadInput, ThatOnlyLooksBadIsStoredVerbatim) {
    for (const char* id :
         {"'; DROP TABLE slots; --", "]]..redis.call('x')", "{a}", "a:b", "a/b", "%41", "\xF0\x9F\x92\xB8"}) {
        SCOPED_TRACE(id);
        const auto answer = assign_at_noon(id);

        EXPECT_EQ(answer.status, 200) << answer.body;
        EXPECT_NE(answer.body.find(std::string{R"({"eventId":")"} + id + "\""), std::string::npos)
            << answer.body;
    }
}

TEST_F(BadInput, TimesWithOffsetsAndFinerFractionsAreReadAsUtcRoundedUp) {
    const auto with_offset = post("/api/v1/slots/quote", R"({"requestedTime":"2025-06-01T17:30:00+05:30"})");
    const auto lower_case = post("/api/v1/slots/quote", R"({"requestedTime":"2025-06-01t12:00:00z"})");
    const auto finer = post("/api/v1/slots/quote", R"({"requestedTime":"2025-06-01T12:00:00.0000001Z"})");

    EXPECT_EQ(with_offset.body, R"({"scheduledTime":"2025-06-01T12:00:00.000Z","delayMs":0})");
    EXPECT_EQ(lower_case.body, with_offset.body);
    EXPECT_EQ(finer.body, R"({"scheduledTime":"2025-06-01T12:00:00.001Z","delayMs":0})");
}

TEST_F(BadInput, WithTooManyValuesIsRefusedBeforeItTakesMuchMemory) {
    std::string numbers = R"({"events":[1)";
    for (int i = 0; i < 300'000; ++i) {
        numbers += ",1";
    }

    const auto answer = post("/api/v1/slots/batch", numbers + "]}");

    EXPECT_EQ(answer.status, 400);
    EXPECT_EQ(answer.code(), "malformed_json");
}

TEST_F(BadInput, OfABatchAsAWholeIsRefusedAsAWhole) {
    const auto unsupported =
        post("/api/v1/slots/batch", R"({"configNames":["a"],"events":[{"eventId":"a"}]})");
    const auto empty = post("/api/v1/slots/batch", R"({"requestedTime":"2025-06-01T12:00:00Z","events":[]})");
    const auto flag = post("/api/v1/slots/batch", R"({"atomic":"yes","events":[{"eventId":"a"}]})");

    EXPECT_EQ(unsupported.code(), "not_supported");
    EXPECT_EQ(empty.code(), "invalid_events");
    EXPECT_EQ(flag.code(), "invalid_flag");
}

TEST_F(BadInput, TypesAreReadWhateverTheirCaseAndParameters) {
    for (const char* type : {"Application/JSON", "application/json ; charset=utf-8"}) {
        SCOPED_TRACE(type);
        RawHttp http{port()};
        http.send(
            request_text("POST", "/api/v1/slots", kGoodBody, "Content-Type: " + std::string{type} + "\r\n"));

        EXPECT_EQ(http.read().value().status, 200);
    }
}

TEST_F(BadInput, DurationsThatAreFineAreTaken) {
    for (const char* size : {"PT1.5S", "PT1H", "P31D", "P1DT2H3M4S", "PT0.001S"}) {
        SCOPED_TRACE(size);
        const std::string body = R"({"configName":"c-)" + std::string{size} +
                                 R"(","maxPerWindow":5,"windowSize":")" + size + R"("})";
        EXPECT_EQ(post("/admin/rate-limit/config", body).status, 200);
    }
}

TEST_F(BadInput, OfAnUnknownMethodIsToldWhatIsAllowed) {
    EXPECT_EQ(call(port(), "PUT", "/api/v1/slots").header("allow"), "POST");
    EXPECT_EQ(call(port(), "PUT", "/api/v1/slots/x").header("allow"), "GET, HEAD, DELETE");
    for (const char* path : {"/api/v1/slots/batch", "/api/v1/slots/stream", "/api/v1/slots/quote"}) {
        EXPECT_EQ(call(port(), "PUT", path).header("allow"), "POST") << path;
    }
}

}  // namespace
}  // namespace sluice::test
