// The gateway over HTTP: bodies and statuses to the byte, and nothing changed by what was refused.
#include <barrier>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/gateway/gateway_ledger.hpp"
#include "door/http/gateway_desk.hpp"
#include "door/http/http_server.hpp"
#include "door/http/routes.hpp"
#include "store/memory/memory_gateway_tables.hpp"
#include "support/gateway_words.hpp"
#include "support/hand_clock.hpp"
#include "support/raw_http.hpp"
#include "support/recording_log.hpp"

namespace sluice::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using Call = FaultyGatewayTables::Call;

const std::string kUser = R"({"userId":101,"rateLimit":3,"timeWindow":5})";
const std::string kMessage = R"({"userId":101,"message":"Hello World"})";

// A door over a ledger in memory, whose clock stands at kNoon; with or without a publisher.
class HttpGateway : public testing::Test {
protected:
    explicit HttpGateway(bool publishing = false) {
        service_ = std::make_unique<GatewayService>(
            GatewayServiceOptions{},
            GatewayServiceWorld{*store_, publishing ? &publisher_ : nullptr, metrics_, log_, *runtime_,
                                [this] { return message_id(++drawn_); }, [] {}});
        desk_.emplace(*service_, log_);
        http::ServerOptions options;
        options.port = 0;
        options.io_threads = 2;
        const std::array tables{http::RouteTable{http::gateway_routes(), &*desk_}};
        server_ = http::start_server(options, {gate_, log_, tables}).value();
    }
    ~HttpGateway() override {
        server_->drain(std::chrono::seconds{5});
        service_->stop();
    }

    [[nodiscard]] std::uint16_t port() const { return server_->port(); }
    HttpAnswer get(std::string_view target) const { return call(port(), "GET", target); }
    HttpAnswer post(std::string_view target, std::string_view body) const {
        return call(port(), "POST", target, body);
    }
    HttpAnswer send(std::string_view body = kMessage, std::string_view headers = "") const {
        RawHttp http{port()};
        http.send(request_text("POST", "/api/send", body,
                               "Content-Type: application/json\r\n" + std::string{headers}));
        return http.read().value();
    }
    // All that a refused request could have changed.
    std::string state() const {
        return get("/api/config/101").body + std::to_string(store_->outbox().waiting(1'000)->size());
    }

    const std::unique_ptr<Runtime> runtime_ = make_machine_runtime();
    HandClock clock_{kNoon};
    RecordingLog log_;
    CountingGatewayMetrics metrics_;
    FakePublisher publisher_;
    std::unique_ptr<FaultyGatewayTables> owned_ =
        std::make_unique<FaultyGatewayTables>(make_memory_gateway_tables());
    FaultyGatewayTables& tables_ = *owned_;
    const std::unique_ptr<GatewayStore> store_ = make_gateway_ledger(std::move(owned_), {clock_, log_});
    std::atomic<std::size_t> drawn_ = 0;
    http::AdminGate gate_;
    std::unique_ptr<GatewayService> service_;
    std::optional<http::GatewayDesk> desk_;
    std::unique_ptr<http::Server> server_;
};

void expect_text(const HttpAnswer& answer, int status, const std::string& text) {
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(answer.body, text);
    EXPECT_EQ(answer.header("Content-Type"), "text/plain; charset=utf-8");
}

TEST_F(HttpGateway, SetsAUserAndTellsOfIt) {
    const std::string told = R"({"userId":101,"rateLimit":3,"timeWindow":5,"currentCount":0,)"
                             R"("lastRefreshTime":"2025-06-01T12:00:00.000Z"})";

    const auto set = post("/api/config", kUser);

    EXPECT_EQ(set.status, 200);
    EXPECT_EQ(set.body, told);
    EXPECT_EQ(set.header("Content-Type"), "application/json");
    EXPECT_EQ(get("/api/config/101").body, told);
    EXPECT_EQ(log_.count_starting("INFO Audit - 127.0.0.1 set a user: {\"userId\":101"), 1U);
}

TEST_F(HttpGateway, SendsUpToTheLimitAndSaysWhenThereIsRoomAgain) {
    post("/api/config", kUser);
    for (int i = 0; i < 3; ++i) {
        const auto sent = send();
        expect_text(sent, 200, "Message Sent Successfully");
        EXPECT_EQ(sent.header("Message-Id"), "m" + std::to_string(i + 1));
    }
    clock_.advance(4min + 1ms);

    const auto denied = send();

    expect_text(denied, 429, "Rate Limit Exceeded");
    EXPECT_EQ(denied.header("Retry-After"), "60");
    EXPECT_EQ(denied.header("Message-Id"), "");
    clock_.advance(1min);
    EXPECT_EQ(send().status, 200);
}

TEST_F(HttpGateway, TellsWhatBecameOfAMessage) {
    post("/api/config", kUser);
    send();
    EXPECT_EQ(
        get("/api/messages/m1").body,
        R"({"messageId":"m1","userId":101,"state":"queued","times":{"queued":"2025-06-01T12:00:00.000Z"}})");
    clock_.advance(1s);
    const OutboxClosing closing{store_->outbox().waiting(1)->at(0).number, message_id("m1"),
                                MessageState::Sent};
    ASSERT_TRUE(store_->outbox().close({&closing, 1}));

    EXPECT_EQ(get("/api/messages/m1").body,
              R"({"messageId":"m1","userId":101,"state":"sent",)"
              R"("times":{"queued":"2025-06-01T12:00:00.000Z","sent":"2025-06-01T12:00:01.000Z"}})");
    expect_text(get("/api/messages/m2"), 404, "Message Not Found");
}

TEST_F(HttpGateway, KnowsARetryByItsRequestIdHoweverThatIsGiven) {
    post("/api/config", kUser);
    const auto first = send(R"({"userId":101,"message":"Hello World","requestId":"r"})");

    const auto again = send(kMessage, "Idempotency-Key: r\r\n");

    expect_text(again, 200, "Message Sent Successfully");
    EXPECT_EQ(again.header("Message-Id"), first.header("Message-Id"));
    EXPECT_THAT(get("/api/config/101").body, HasSubstr(R"("currentCount":1)"));
    expect_text(send(R"({"userId":101,"message":"x","requestId":"r"})", "Idempotency-Key: s\r\n"), 400,
                "Missing/Invalid Arguments");
    EXPECT_EQ(send(R"({"userId":101,"message":"x","requestId":"r"})", "Idempotency-Key: r\r\n").status, 200);
}

TEST_F(HttpGateway, DoesNotKnowUsersThatNobodySet) {
    expect_text(send(), 404, "User Not Found");
    expect_text(get("/api/config/101"), 404, "User Not Found");
}

TEST_F(HttpGateway, RefusesMessagesThatAreNotAsTheyMustBe) {
    post("/api/config", kUser);
    send();
    const std::string before = state();
    const std::string long_text(10 * 1024 + 1, 'x');
    for (const std::string& body : std::initializer_list<std::string>{
             "",
             "{",
             "[]",
             "null",
             "\"x\"",
             kMessage + "x",
             kMessage + kMessage,
             R"({"userId":101})",
             R"({"message":"x"})",
             R"({"userId":"101","message":"x"})",
             R"({"userId":101.0,"message":"x"})",
             R"({"userId":1e2,"message":"x"})",
             R"({"userId":-1,"message":"x"})",
             R"({"userId":2147483648,"message":"x"})",
             R"({"userId":18446744073709551616,"message":"x"})",
             R"({"userId":null,"message":"x"})",
             R"({"userId":true,"message":"x"})",
             R"({"userId":NaN,"message":"x"})",
             R"({"userId":101,"message":""})",
             R"({"userId":101,"message":"   "})",
             R"({"userId":101,"message":"\t\r\n"})",
             R"({"userId":101,"message":7})",
             R"({"userId":101,"message":null})",
             R"({"userId":101,"message":["x"]})",
             R"({"userId":101,"message":"\ud800"})",
             "{\"userId\":101,\"message\":\"\xff\"}",
             R"({"userId":101,"userId":101,"message":"x"})",
             R"({"userId":101,"message":"x","defer":true})",
             R"({"userId":101,"message":"x","defer":"no"})",
             R"({"userId":101,"message":"x","requestId":""})",
             R"({"userId":101,"message":"x","requestId":5})",
             R"({"userId":101,"message":"x","requestId":"a\u0000b"})",
             R"({"userId":101,"message":"x","to":""})",
             R"({"userId":101,"message":"x","to":null})",
             R"({"userId":101,"message":"x","from":1})",
             R"({"userId":101,"message":"x","validity":"PT0S"})",
             R"({"userId":101,"message":"x","validity":"10m"})",
             R"({"userId":101,"message":"x","validity":60})",
             R"({"userId":101,"message":"x","requestId":")" + std::string(256, 'r') + "\"}",
             R"({"userId":101,"message":")" + long_text + "\"}"}) {
        SCOPED_TRACE(body.substr(0, 100));
        expect_text(send(body), 400, "Missing/Invalid Arguments");
    }
    EXPECT_EQ(state(), before);
}

TEST_F(HttpGateway, RefusesTermsThatAreNotAsTheyMustBe) {
    post("/api/config", kUser);
    send();
    const std::string before = state();
    for (const char* body : {
             "",
             "{}",
             "[1]",
             R"({"userId":101,"rateLimit":3})",
             R"({"userId":101,"timeWindow":5})",
             R"({"rateLimit":3,"timeWindow":5})",
             R"({"userId":101,"rateLimit":0,"timeWindow":5})",
             R"({"userId":101,"rateLimit":3,"timeWindow":0})",
             R"({"userId":101,"rateLimit":-3,"timeWindow":5})",
             R"({"userId":-1,"rateLimit":3,"timeWindow":5})",
             R"({"userId":2147483648,"rateLimit":3,"timeWindow":5})",
             R"({"userId":101,"rateLimit":1000000001,"timeWindow":5})",
             R"({"userId":101,"rateLimit":3,"timeWindow":1000000001})",
             R"({"userId":101,"rateLimit":"3","timeWindow":5})",
             R"({"userId":101,"rateLimit":3.5,"timeWindow":5})",
             R"({"userId":101,"rateLimit":3,"timeWindow":null})",
             R"({"userId":101,"rateLimit":3,"timeWindow":5,"algorithm":"sliding"})",
             R"({"userId":101,"rateLimit":3,"timeWindow":5,"algorithm":1})",
         }) {
        SCOPED_TRACE(body);
        expect_text(post("/api/config", body), 400, "Missing/Invalid Arguments");
    }
    EXPECT_EQ(state(), before);
}

TEST_F(HttpGateway, RefusesUsersInPathsThatAreNoNumbers) {
    for (const char* id : {"x", "-1", "2147483648", "1.0", "%20", "101%00", "+1"}) {
        SCOPED_TRACE(id);
        expect_text(get("/api/config/" + std::string{id}), 400, "Missing/Invalid Arguments");
    }
}

TEST_F(HttpGateway, TakesTheLargestAndIgnoresWhatItDoesNotKnow) {
    const auto set =
        post("/api/config", R"({"userId":2147483647,"rateLimit":1000000000,"timeWindow":1000000000,)"
                            R"("algorithm":"fixed","colour":1})");
    const std::string text(10 * 1024, 'x');

    const auto sent = send(R"({"userId":2147483647,"defer":false,"colour":[{}],"message":")" + text + "\"}");

    EXPECT_EQ(set.status, 200);
    expect_text(sent, 200, "Message Sent Successfully");
    EXPECT_EQ(store_->outbox().waiting(1)->at(0).message.text, text);
}

TEST_F(HttpGateway, KeepsMessagesToTheByte) {
    post("/api/config", kUser);

    send(R"({"userId":101,"message":"a\r\n\"\u0000 'é' \ud83d\ude00",)"
         R"("to":"+49 30","from":"Sluice","validity":"PT1M"})");

    const OutgoingMessage message = store_->outbox().waiting(1)->at(0).message;
    EXPECT_EQ(message.text, std::string("a\r\n\"\0 'é' 😀", 15));
    EXPECT_EQ(message.to->text(), "+49 30");
    EXPECT_EQ(message.from->text(), "Sluice");
    EXPECT_EQ(message.expires, kNoon + 1min);
}

TEST_F(HttpGateway, SaysInItsOwnWordsThatTheStoreFails) {
    post("/api/config", kUser);
    tables_.arm(Call::Users, 1);

    const auto sent = send();

    expect_text(sent, 503, "Postgres Down : Service Unavailable");
    EXPECT_EQ(sent.header("Message-Id"), "");
    EXPECT_EQ(sent.header("Retry-After"), "1");
    expect_text(get("/api/config/101"), 503, "Postgres Down : Service Unavailable");
    expect_text(get("/api/messages/m1"), 503, "Postgres Down : Service Unavailable");
    expect_text(post("/api/config", kUser), 503, "Postgres Down : Service Unavailable");
}

TEST_F(HttpGateway, NamesTheMessageWhenNobodyKnowsWhetherItWasStored) {
    post("/api/config", kUser);
    tables_.arm(Call::Commit, 1, FaultyGatewayTables::Truth::DoneAllTheSame);

    const auto sent = send();

    expect_text(sent, 503, "Postgres Down : Service Unavailable");
    clock_.advance(1s);
    EXPECT_EQ(get("/api/messages/" + sent.header("Message-Id")).status, 200);
}

TEST_F(HttpGateway, SaysThatItIsOverloaded) {
    post("/api/config", kUser);
    service_->stop();

    expect_text(send(), 503, "Overloaded : Service Unavailable");
    expect_text(get("/api/config/101"), 503, "Overloaded : Service Unavailable");
}

TEST_F(HttpGateway, SpeaksPlainlyAlsoWhereTheDoorRefuses) {
    const auto large = send(std::string(70'000, 'x'));
    EXPECT_EQ(large.status, 413);
    EXPECT_EQ(large.header("Content-Type"), "text/plain; charset=utf-8");
    RawHttp http{port()};
    http.send(request_text("POST", "/api/send", kMessage, "Content-Type: text/html\r\n"));
    EXPECT_EQ(http.read()->status, 415);
    EXPECT_EQ(get("/api/send").status, 405);
}

TEST_F(HttpGateway, GuardsTheTermsOfUsersAndNothingElse) {
    post("/api/config", kUser);
    const auto with_origin = [&](std::string_view method, std::string_view target, std::string_view body) {
        RawHttp http{port()};
        http.send(request_text(method, target, body,
                               "Content-Type: application/json\r\nOrigin: https://evil.example\r\n"));
        return http.read().value();
    };

    expect_text(with_origin("POST", "/api/config", kUser), 403, "Forbidden");
    EXPECT_EQ(with_origin("GET", "/api/config/101", "").status, 200);
    EXPECT_EQ(with_origin("POST", "/api/send", kMessage).status, 200);
}

TEST_F(HttpGateway, GrantsThePlaceThatIsLeftToOneOfTwoHundred) {
    post("/api/config", R"({"userId":101,"rateLimit":1,"timeWindow":5})");
    constexpr int kClients = 200;
    std::barrier start{kClients};
    std::atomic<int> sent = 0;
    std::atomic<int> denied = 0;
    {
        std::vector<std::jthread> clients;
        for (int i = 0; i < kClients; ++i) {
            clients.emplace_back([&] {
                RawHttp http{port()};
                start.arrive_and_wait();
                http.send(request_text("POST", "/api/send", kMessage));
                const int status = http.read().value().status;
                sent += status == 200 ? 1 : 0;
                denied += status == 429 ? 1 : 0;
            });
        }
    }

    EXPECT_EQ(sent, 1);
    EXPECT_EQ(denied, kClients - 1);
    EXPECT_THAT(get("/api/config/101").body, HasSubstr(R"("currentCount":1)"));
    EXPECT_EQ(store_->outbox().waiting(10)->size(), 1U);
}

class HttpGatewayOverAPublisher : public HttpGateway {
protected:
    HttpGatewayOverAPublisher() : HttpGateway{true} {}
};

TEST_F(HttpGatewayOverAPublisher, SaysThatNothingWasPublished) {
    post("/api/config", kUser);
    publisher_.at_once = Published::NotPublished;

    const auto sent = send();

    expect_text(sent, 503, "Kafka Down : Service Unavailable");
    EXPECT_EQ(sent.header("Message-Id"), "");
    EXPECT_THAT(get("/api/config/101").body, HasSubstr(R"("currentCount":0)"));
    EXPECT_THAT(get("/api/messages/m1").body, HasSubstr(R"("state":"failed")"));
}

TEST_F(HttpGatewayOverAPublisher, NamesTheMessageWhenNobodyKnowsWhetherItWasPublished) {
    post("/api/config", kUser);
    publisher_.at_once = Published::Unknown;

    const auto sent = send();

    expect_text(sent, 503, "Kafka Down : Service Unavailable");
    EXPECT_THAT(get("/api/messages/" + sent.header("Message-Id")).body, HasSubstr(R"("state":"queued")"));
    EXPECT_THAT(get("/api/config/101").body, HasSubstr(R"("currentCount":1)"));
}

}  // namespace
}  // namespace sluice::test
