// Bodies: how many large ones are taken at once, and what happens to those that never end.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/door_fixture.hpp"

namespace sluice::test {
namespace {

constexpr std::size_t kMebibyte = 1024 * 1024;

std::string batch_head(std::size_t length) {
    return "POST /api/v1/slots/batch HTTP/1.1\r\nHost: t\r\nContent-Type: "
           "application/json\r\nContent-Length: " +
           std::to_string(length) + "\r\n\r\n";
}

// A batch of one event, made as large as wanted by spaces.
std::string batch_of_size(std::size_t bytes, const std::string& event_id) {
    std::string body =
        R"({"requestedTime":"2025-06-01T12:00:00Z","events":[{"eventId":")" + event_id + R"("}])";
    body.append(bytes - body.size() - 1, ' ');
    return body + "}";
}

std::string chunked(const std::string& rest) {
    return "POST /api/v1/slots HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n" + rest;
}

// Sends a piece again and again until the server has closed or `times` are over.
std::jthread drip(const RawHttp& http, const std::string& piece, int times) {
    return std::jthread{[&http, piece, times](const std::stop_token& stop) {
        for (int i = 0; i < times && !stop.stop_requested(); ++i) {
            http.try_send(piece);
            std::this_thread::sleep_for(std::chrono::milliseconds{100});  // The drip is the input under test.
        }
    }};
}

class Bodies : public DoorFixture {};

class BodiesInAHurry : public DoorFixture {
protected:
    BodiesInAHurry() : DoorFixture{options()} {}

private:
    static http::ServerOptions options() {
        http::ServerOptions options;
        options.receive_timeout = std::chrono::seconds{1};
        options.body_timeout = std::chrono::seconds{2};
        return options;
    }
};

TEST_F(Bodies, ThatOnlyAnnounceMuchKeepNoLargeBatchOut) {
    std::vector<std::unique_ptr<RawHttp>> slow;
    for (int i = 0; i < 24; ++i) {
        slow.push_back(std::make_unique<RawHttp>(port()));
        slow.back()->send(batch_head(16 * kMebibyte) + std::string(200'000, ' '));
    }

    const auto answer = post("/api/v1/slots/batch", batch_of_size(15 * kMebibyte, "large"));

    EXPECT_EQ(answer.status, 200) << answer.body;
}

TEST_F(Bodies, OfManyLargeBatchesAtOnceAreAllServed) {
    constexpr int kTogether = 16;
    std::atomic<int> served = 0;
    {
        std::vector<std::jthread> clients;
        for (int i = 0; i < kTogether; ++i) {
            clients.emplace_back([this, &served, i] {
                const std::string body = batch_of_size(16 * kMebibyte, "e" + std::to_string(i));
                for (int round = 0; round < 2; ++round) {
                    served += post("/api/v1/slots/batch", body).status == 200 ? 1 : 0;
                }
            });
        }
    }

    EXPECT_EQ(served, kTogether * 2);
}

TEST_F(BodiesInAHurry, ThatTrickleGet408) {
    RawHttp http{port()};
    http.send(batch_head(kMebibyte));

    const auto dripping = drip(http, std::string(50, ' '), 100);
    const auto answer = http.read();

    EXPECT_EQ(answer.value().status, 408);
    EXPECT_EQ(answer.value().code(), "request_timeout");
    EXPECT_TRUE(http.closed());
}

TEST_F(BodiesInAHurry, ThatTakeTooLongInAllGet408) {
    RawHttp http{port()};
    http.send(batch_head(16 * kMebibyte));

    const auto dripping = drip(http, std::string(20'000, ' '), 100);

    EXPECT_EQ(http.read().value().status, 408);
}

TEST_F(BodiesInAHurry, OfAStreamMayTrickleForAsLongAsTheyLike) {
    RawHttp http{port()};
    http.send("POST /api/v1/slots/stream HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n");

    drip(http, "1\r\n \r\n", 30).join();
    const std::string event = R"({"eventId":"e","requestedTime":"2025-06-01T12:00:00Z"})";
    http.send("36\r\n" + event + "\r\n0\r\n\r\n");
    const auto answer = http.read();

    ASSERT_EQ(event.size(), 0x36U);
    EXPECT_EQ(answer.value().status, 200);
    EXPECT_EQ(answer.value().body.find(R"({"eventId":"e","scheduledTime":)"), 0U) << answer.value().body;
}

TEST_F(Bodies, InChunksWithEndlessExtensionsOrTrailersAreAnswered) {
    std::string trailers = chunked("2\r\n{}\r\n0\r\n");
    for (int i = 0; i < 50'000; ++i) {
        trailers += "X-Trailer-" + std::to_string(i) + ": something\r\n";
    }
    const std::string extensions = chunked("2;" + std::string(200'000, 'x') + "\r\n{}\r\n0\r\n\r\n");
    for (const std::string& request : {trailers + "\r\n", extensions}) {
        RawHttp http{port()};
        http.try_send(request);
        const auto answer = http.read();

        ASSERT_TRUE(answer.has_value());
        EXPECT_EQ(answer->status, 431) << answer->body;
        EXPECT_EQ(answer->header("connection"), "close");
    }
}

TEST_F(Bodies, ThatAreCompressedAreNotTaken) {
    const std::string body = R"({"eventId":"e","requestedTime":"2025-06-01T12:00:00Z"})";
    for (const char* encoding : {"gzip", "br", "identity, gzip", "deflate"}) {
        SCOPED_TRACE(encoding);
        for (const char* target : {"/api/v1/slots", "/api/v1/slots/stream"}) {
            RawHttp http{port()};
            http.send(
                request_text("POST", target, body, "Content-Encoding: " + std::string{encoding} + "\r\n"));
            const auto answer = http.read();

            EXPECT_EQ(answer.value().status, 415);
            EXPECT_EQ(answer.value().code(), "content_encoding_not_supported");
            EXPECT_EQ(answer.value().header("accept-encoding"), "identity");
        }
    }
    EXPECT_EQ(get("/api/v1/slots/e").status, 404);

    RawHttp plain{port()};
    plain.send(request_text("POST", "/api/v1/slots", body, "Content-Encoding: Identity\r\n"));
    EXPECT_EQ(plain.read().value().status, 200);
}

}  // namespace
}  // namespace sluice::test
