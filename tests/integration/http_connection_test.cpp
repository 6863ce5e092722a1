// How the door treats connections: order, time-outs, limits, tokens, and its own end.
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "support/door_fixture.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

http::ServerOptions impatient() {
    http::ServerOptions options;
    options.receive_timeout = std::chrono::seconds{1};
    options.idle_timeout = std::chrono::seconds{2};
    options.connections_max = 3;
    return options;
}

class Connections : public DoorFixture {};

class ImpatientDoor : public DoorFixture {
protected:
    ImpatientDoor() : DoorFixture{impatient()} {}
};

class GuardedDoor : public DoorFixture {
protected:
    static constexpr std::string_view kToken = "0123456789abcdef0123456789abcdef";

    GuardedDoor() {
        std::ofstream{folder_ / "token"} << kToken << "\n";
        EXPECT_TRUE(gate_.load(folder_ / "token"));
    }

    HttpAnswer flush_with(std::string_view authorization) const {
        RawHttp http{port()};
        std::string headers;
        if (!authorization.empty()) {
            headers = "Authorization: " + std::string{authorization} + "\r\n";
        }
        http.send(request_text("POST", "/admin/rate-limit/cache/flush", "", headers));
        return http.read().value();
    }

    TempFolder folder_;
};

TEST_F(Connections, AnswerAThousandPipelinedRequestsInOrder) {
    RawHttp http{port()};
    std::string all;
    for (int i = 0; i < 1000; ++i) {
        all += request_text("GET", "/api/v1/slots/e" + std::to_string(i));
    }

    std::thread sender{[&] { http.send(all); }};

    for (int i = 0; i < 1000; ++i) {
        const auto answer = http.read();
        ASSERT_TRUE(answer.has_value());
        ASSERT_NE(answer->body.find("'e" + std::to_string(i) + "'"), std::string::npos) << answer->body;
    }
    sender.join();
}

TEST_F(Connections, AreKeptBetweenRequestsUnlessTheClientSaysOtherwise) {
    RawHttp http{port()};

    http.send(request_text("GET", "/healthz"));
    EXPECT_EQ(http.read().value().header("connection"), "");
    http.send(request_text("GET", "/healthz", "", "Connection: close\r\n"));
    EXPECT_EQ(http.read().value().header("connection"), "close");

    EXPECT_TRUE(http.closed());
}

TEST_F(Connections, OfHttp10EndAfterTheAnswer) {
    RawHttp http{port()};

    http.send("GET /healthz HTTP/1.0\r\n\r\n");

    EXPECT_EQ(http.read().value().status, 200);
    EXPECT_TRUE(http.closed());
}

TEST_F(Connections, AnswerHeadLikeGetWithoutTheBody) {
    RawHttp http{port()};

    http.send(request_text("HEAD", "/healthz") + request_text("GET", "/healthz"));

    auto answer = http.read();
    // What a client takes for the body of HEAD is the answer to GET.
    EXPECT_EQ(answer.value().header("content-length"), "15");
    EXPECT_EQ(answer.value().body, "HTTP/1.1 200 OK");
}

TEST_F(Connections, InviteABodyThatWaitsToBeInvited) {
    RawHttp http{port()};
    const std::string body = R"({"eventId":"e","requestedTime":"2025-06-01T12:00:00Z"})";
    const std::string whole = request_text("POST", "/api/v1/slots", body, "Expect: 100-continue\r\n");

    http.send(std::string_view{whole}.substr(0, whole.size() - body.size()));
    const auto invitation = http.read();
    http.send(body);

    EXPECT_EQ(invitation.value().status, 100);
    EXPECT_EQ(http.read().value().status, 200);
}

TEST_F(Connections, TakeRequestsInAnyPieces) {
    RawHttp http{port()};
    const std::string request =
        request_text("POST", "/api/v1/slots", R"({"eventId":"e","requestedTime":"2025-06-01T12:00:00Z"})");

    for (const char byte : request) {
        http.send({&byte, 1});
    }

    EXPECT_EQ(http.read().value().status, 200);
}

TEST_F(Connections, TakeChunkedBodies) {
    RawHttp http{port()};

    http.send(
        "POST /api/v1/slots HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
        "f\r\n{\"eventId\":\"e\",\r\n28\r\n\"requestedTime\":\"2025-06-01T12:00:00Z\" }\r\n0\r\n\r\n");

    EXPECT_EQ(http.read().value().status, 200);
}

TEST_F(Connections, EndWhenTheServerDrainsAndRequestsUnderWayFinish) {
    RawHttp idle{port()};
    idle.send(request_text("GET", "/healthz"));
    ASSERT_EQ(idle.read().value().status, 200);
    RawHttp busy{port()};
    const std::string request =
        request_text("POST", "/api/v1/slots", R"({"eventId":"e","requestedTime":"2025-06-01T12:00:00Z"})");
    // The first answer shows that the beginning of the second request has arrived too.
    busy.send(request_text("GET", "/healthz") + request.substr(0, 40));
    ASSERT_EQ(busy.read().value().status, 200);

    std::jthread drain{[this] { server_->drain(std::chrono::seconds{10}); }};
    const bool idle_ended = idle.closed();
    busy.send(std::string_view{request}.substr(40));
    const auto last = busy.read();
    drain.join();

    EXPECT_TRUE(idle_ended);
    EXPECT_EQ(last.value().status, 200);
    EXPECT_EQ(last.value().header("connection"), "close");
    EXPECT_THROW(RawHttp{port()}, std::runtime_error);
}

// What a page gets whose name was made to lead to this machine.
TEST_F(Connections, OpenAdminPathsToThisMachinesOwnNamesOnly) {
    const auto ask = [this](const std::string& method, const std::string& names) {
        RawHttp http{port()};
        http.send(method + "\r\n" + names + "\r\n\r\n");
        return http.read().value();
    };
    const std::string read = "GET /admin/plans HTTP/1.1";
    const std::string change = "POST /admin/rate-limit/cache/flush HTTP/1.1";

    for (const char* names :
         {"Host: localhost", "Host: LOCALHOST:8080", "Host: 127.0.0.1", "Host: 127.8.9.1:80",
          "Host: [::1]:8080", "Host: [::ffff:127.0.0.1]", "Host: localhost\r\nOrigin: http://localhost:3000",
          "Host: localhost\r\nOrigin: https://127.0.0.1"}) {
        SCOPED_TRACE(names);
        EXPECT_EQ(ask(read, names).status, 200);
        EXPECT_EQ(ask(change, names).status, 200);
    }
    for (const char* names :
         {"Host: evil.example", "Host: evil.example:8080", "Host: localhost.evil.example", "Host: 0.0.0.0",
          "Host: 192.168.0.1", "Host: 127.0.0.1.evil.example", "Host: [::1", "Host: [::2]",
          "Host: ", "Host: 127.1", "Host: localhost:8080:9", "Host: evil@localhost",
          "Host: localhost\r\nOrigin: https://evil.example", "Host: localhost\r\nOrigin: null",
          "Host: localhost\r\nOrigin: http://localhost.evil.example",
          "Host: localhost\r\nOrigin: file://localhost"}) {
        SCOPED_TRACE(names);
        const auto refusal = ask(read, names);
        EXPECT_EQ(refusal.status, 403);
        EXPECT_EQ(refusal.code(), "foreign_host");
        EXPECT_EQ(refusal.header("content-type"), "application/problem+json");
        EXPECT_EQ(ask(change, names).status, 403);
    }
    EXPECT_EQ(ask("GET /admin/plans HTTP/1.0", "X: y").status, 403);
    EXPECT_EQ(ask("GET /healthz HTTP/1.1", "Host: any.example").status, 200);
    EXPECT_TRUE(log_.has("WARN Audit - 127.0.0.1 was refused: a foreign Host or Origin"));
}

TEST_F(ImpatientDoor, AnswersSlowHeadersWith408) {
    RawHttp http{port()};

    http.send("GET /healthz HTTP/1.1\r\nHost: t\r\n");

    EXPECT_EQ(http.read().value().status, 408);
    EXPECT_TRUE(http.closed());
}

TEST_F(ImpatientDoor, GivesAllHeadersTogetherOneTimeOut) {
    RawHttp http{port()};
    const auto start = std::chrono::steady_clock::now();

    // A byte every so often must not keep the connection for ever.
    std::thread dripper{[&http] {
        for (int i = 0; i < 40; ++i) {
            http.try_send("X");
            std::this_thread::sleep_for(std::chrono::milliseconds{100});  // The drip is the input under test.
        }
    }};
    const auto answer = http.read();
    const auto took = std::chrono::steady_clock::now() - start;
    dripper.join();

    EXPECT_EQ(answer.value().status, 408);
    EXPECT_LT(took, std::chrono::milliseconds{3500});
}

TEST_F(ImpatientDoor, AnswersASlowBodyWith408) {
    RawHttp http{port()};

    http.send("POST /api/v1/slots HTTP/1.1\r\nHost: t\r\nContent-Length: 50\r\n\r\n{");

    EXPECT_EQ(http.read().value().status, 408);
    EXPECT_TRUE(http.closed());
}

TEST_F(ImpatientDoor, ClosesIdleConnectionsSilently) {
    RawHttp http{port()};

    http.send(request_text("GET", "/healthz"));
    ASSERT_EQ(http.read().value().status, 200);

    EXPECT_TRUE(http.closed());
}

TEST_F(ImpatientDoor, TurnsConnectionsAwayBeyondItsLimit) {
    while (server_->connections_approx() > 0) {
        std::this_thread::yield();
    }
    RawHttp first{port()};
    RawHttp second{port()};
    RawHttp third{port()};
    while (server_->connections_approx() < 3) {
        std::this_thread::yield();
    }

    if (door_tls() != nullptr) {
        // A handshake would cost more than the answer.
        EXPECT_THROW(RawHttp{port()}, std::runtime_error);
        return;
    }
    RawHttp fourth{port()};
    const auto answer = fourth.read();

    EXPECT_EQ(answer.value().status, 503);
    EXPECT_EQ(answer.value().header("retry-after"), "1");
}

TEST_F(GuardedDoor, WantsItsTokenOnAdminRoutesOnly) {
    EXPECT_EQ(flush_with("").status, 401);
    EXPECT_EQ(flush_with("").header("www-authenticate"), "Bearer realm=\"sluice\"");
    EXPECT_EQ(flush_with("Bearer wrong").status, 401);
    EXPECT_EQ(flush_with("Bearer " + std::string{kToken}).status, 200);
    EXPECT_EQ(flush_with("bearer " + std::string{kToken}).status, 200);
    EXPECT_EQ(assign_at_noon("e").status, 200);
    EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(GuardedDoor, StopsListeningToAnAddressThatKeepsGuessing) {
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(flush_with("Bearer guess" + std::to_string(i)).status, 401);
    }

    EXPECT_EQ(flush_with("Bearer another").status, 429);
    EXPECT_EQ(flush_with("").status, 429);
}

TEST_F(GuardedDoor, LetsTheRightTokenPassHoweverManyWrongOnesCameFromThere) {
    for (int i = 0; i < 30; ++i) {
        EXPECT_NE(flush_with("Bearer guess" + std::to_string(i)).status, 200);
    }

    EXPECT_EQ(flush_with("Bearer " + std::string{kToken}).status, 200);
    EXPECT_EQ(flush_with("Bearer guess").status, 429);
}

TEST_F(GuardedDoor, LetsTheRightTokenPassUnderAnyName) {
    RawHttp http{port()};

    http.send("GET /admin/plans HTTP/1.1\r\nHost: sluice.example\r\nOrigin: https://ops.example\r\n" +
              ("Authorization: Bearer " + std::string{kToken}) + "\r\n\r\n");

    EXPECT_EQ(http.read().value().status, 200);
}

TEST_F(GuardedDoor, KeepsItsTokenWhenANewOneCannotBeRead) {
    std::ofstream{folder_ / "short"} << "too short\n";

    EXPECT_FALSE(gate_.load(folder_ / "short"));
    EXPECT_FALSE(gate_.load(folder_ / "missing"));

    EXPECT_EQ(flush_with("Bearer " + std::string{kToken}).status, 200);
}

TEST_F(GuardedDoor, WritesWhoDidWhatToTheLogButNeverTheToken) {
    EXPECT_EQ(flush_with("Bearer " + std::string{kToken}).status, 200);
    EXPECT_EQ(flush_with("Bearer planted-secret").status, 401);

    EXPECT_TRUE(log_.has("INFO Audit - 127.0.0.1 flushed the config cache"));
    EXPECT_TRUE(log_.has("WARN Audit - 127.0.0.1 was refused: no valid token"));
    for (const std::string& line : log_.lines()) {
        EXPECT_EQ(line.find(kToken), std::string::npos);
        EXPECT_EQ(line.find("planted-secret"), std::string::npos);
    }
}

}  // namespace
}  // namespace sluice::test
