// The NDJSON stream: order, errors in place, any length, constant memory.
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/door_fixture.hpp"

namespace sluice::test {
namespace {

using ::testing::StartsWith;

constexpr std::string_view kHead =
    "POST /api/v1/slots/stream HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string line(const std::string& id) {
    return R"({"eventId":")" + id + R"(","requestedTime":"2025-06-01T12:00:00Z"})" + "\n";
}

std::string chunk(const std::string& data) {
    std::ostringstream text;
    text << std::hex << data.size() << "\r\n" << data << "\r\n";
    return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream{text};
    for (std::string one; std::getline(stream, one);) {
        lines.push_back(one);
    }
    return lines;
}

class HttpStream : public DoorFixture {};

http::ServerOptions impatient() {
    http::ServerOptions options;
    options.receive_timeout = std::chrono::seconds{1};
    return options;
}

class ImpatientStream : public DoorFixture {
protected:
    ImpatientStream() : DoorFixture{impatient()} {}
};

TEST_F(HttpStream, AnswersEveryLineInOrder) {
    RawHttp http{port()};
    std::string body;
    for (int i = 0; i < 5'000; ++i) {
        body += line("e" + std::to_string(i));
    }

    std::thread sender{[&] {
        http.send(kHead);
        for (std::size_t at = 0; at < body.size(); at += 1000) {
            http.send(chunk(body.substr(at, 1000)));
        }
        http.send("0\r\n\r\n");
    }};
    const auto answer = http.read();
    sender.join();

    EXPECT_EQ(answer.value().status, 200);
    EXPECT_EQ(answer.value().header("content-type"), "application/x-ndjson");
    const auto lines = lines_of(answer.value().body);
    ASSERT_EQ(lines.size(), 5'000U);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        ASSERT_THAT(lines[i], StartsWith(R"({"eventId":"e)" + std::to_string(i) + R"(","scheduledTime":")"));
    }
}

TEST_F(HttpStream, PutsErrorsWhereTheirLinesStood) {
    RawHttp http{port()};

    http.send(kHead);
    http.send(chunk(line("a") + "\r\n\nnonsense\n" + R"({"eventId":"b","requestedTime":"never"})" + "\n" +
                    std::string(70'000, 'x') + "\n" + line("c") +
                    R"({"eventId":"d","configName":"nope","requestedTime":"2025-06-01T12:00:00Z"})"));
    http.send("0\r\n\r\n");
    const auto lines = lines_of(http.read().value().body);

    ASSERT_EQ(lines.size(), 6U);
    EXPECT_THAT(lines[0], StartsWith(R"({"eventId":"a","scheduledTime")"));
    EXPECT_THAT(lines[1], StartsWith(R"({"eventId":null,"error":{"code":"malformed_json")"));
    EXPECT_THAT(lines[2], StartsWith(R"({"eventId":"b","error":{"code":"invalid_time")"));
    EXPECT_THAT(lines[3], StartsWith(R"({"eventId":null,"error":{"code":"line_too_long")"));
    EXPECT_THAT(lines[4], StartsWith(R"({"eventId":"c","scheduledTime")"));
    EXPECT_THAT(lines[5], StartsWith(R"({"eventId":"d","error":{"code":"config_not_found")"));
}

TEST_F(HttpStream, AnswersWhileMoreIsToCome) {
    RawHttp http{port()};

    http.send(kHead);
    http.send(chunk(line("first")));
    while (get("/api/v1/slots/first").status != 200) {
        std::this_thread::yield();
    }
    http.send(chunk(line("second")));
    http.send("0\r\n\r\n");

    EXPECT_EQ(lines_of(http.read().value().body).size(), 2U);
}

TEST_F(HttpStream, LeavesTheConnectionForTheNextRequest) {
    RawHttp http{port()};

    http.send(request_text("POST", "/api/v1/slots/stream", line("a")));
    const auto streamed = http.read();
    http.send(request_text("GET", "/healthz"));

    EXPECT_EQ(lines_of(streamed.value().body).size(), 1U);
    EXPECT_EQ(http.read().value().status, 200);
}

TEST_F(ImpatientStream, EndsWhenItsClientFallsSilentAfterAnAnswer) {
    RawHttp http{port()};

    http.send(kHead);
    http.send(chunk(line("a")));

    EXPECT_FALSE(http.read().has_value());
}

TEST_F(HttpStream, EndsWithItsClient) {
    {
        RawHttp http{port()};
        http.send(kHead);
        http.send(chunk(line("a")));
    }
    while (server_->connections_approx() > 0) {
        std::this_thread::yield();
    }

    EXPECT_EQ(get("/healthz").status, 200);
}

}  // namespace
}  // namespace sluice::test
