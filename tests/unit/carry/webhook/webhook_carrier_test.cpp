// The carrier of webhooks against servers that do what a script says.
#include "carry/webhook/webhook_carrier.hpp"

#include <thread>

#include <gmock/gmock.h>

#include "carry/webhook/signature.hpp"
#include "support/gate.hpp"
#include "unit/carry/webhook/webhook_fixture.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using test::body_of;
using test::header_of;
using test::http_answer;
using test::ScriptedPeer;
using test::ScriptedServer;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Kind = Delivery::Kind;

class AWebhookCarrier : public test::WebhookTest {};

TEST_F(AWebhookCarrier, PostsThePayloadByteForByte) {
    const ScriptedServer& server = serve({seen_.answer_all(http_answer("200 OK", {}, "thanks"))});
    const std::string payload{" {\"a\" : 1.50e3,\r\n \"b\":\"\xC3\xA4\"}\0 ", 28};
    Parcel sent = parcel(url_of(server, "/hook/x?y=1"), payload, "order 7\xC3\xA4%");
    sent.order.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    const Delivery delivery = send(sent);

    EXPECT_EQ(delivery.kind, Kind::Done);
    EXPECT_EQ(delivery.status, 200U);
    EXPECT_EQ(delivery.excerpt, "thanks");
    EXPECT_EQ(delivery.error, "");
    const std::string request = seen_.all().at(0);
    EXPECT_THAT(request, StartsWith("POST /hook/x?y=1 HTTP/1.1\r\n"));
    EXPECT_EQ(body_of(request), payload);
    EXPECT_EQ(header_of(request, "Host"), "127.0.0.1:" + std::to_string(server.port()));
    EXPECT_EQ(header_of(request, "User-Agent"), "sluice");
    EXPECT_EQ(header_of(request, "Content-Type"), "application/json");
    EXPECT_EQ(header_of(request, "Idempotency-Key"), "order%207%C3%A4%25");
    EXPECT_EQ(header_of(request, "traceparent"), sent.order.traceparent);
    EXPECT_EQ(header_of(request, "webhook-id"), "(none)");
    EXPECT_EQ(header_of(request, "webhook-signature"), "(none)");
}

TEST_F(AWebhookCarrier, PostsAnEmptyBodyWhenThereIsNoPayload) {
    const ScriptedServer& server = serve({seen_.answer_all(http_answer("204 No Content"))});
    Parcel sent = parcel(url_of(server), "");
    sent.order.traceparent = "00-\r\nX: y";  // A header cannot hold it.

    EXPECT_EQ(send(sent).kind, Kind::Done);

    const std::string request = seen_.all().at(0);
    EXPECT_EQ(header_of(request, "Content-Length"), "0");
    EXPECT_EQ(header_of(request, "Content-Type"), "(none)");
    EXPECT_EQ(header_of(request, "traceparent"), "(none)");
    EXPECT_EQ(body_of(request), "");
}

TEST_F(AWebhookCarrier, SendsTheSameOnEveryTryOverAKeptConnection) {
    const ScriptedServer& server = serve({seen_.answer_all(http_answer("503 Busy"))});
    files_["secret"] = "c2VjcmV0";
    options_.secret_files = {"secret"};
    constexpr std::size_t kTries = 50;

    for (std::size_t i = 0; i < kTries; ++i) {
        EXPECT_EQ(send(parcel(url_of(server), R"({"n":1})", "e")).kind, Kind::Failed);
        clock_.advance(1s);
    }

    EXPECT_EQ(server.accepted(), 1U);
    const auto requests = seen_.all();
    ASSERT_EQ(requests.size(), kTries);
    for (const std::string& request : requests) {
        EXPECT_EQ(body_of(request), R"({"n":1})");
        EXPECT_EQ(header_of(request, "Idempotency-Key"), "e");
        EXPECT_EQ(header_of(request, "webhook-id"), header_of(requests.front(), "webhook-id"));
    }
    EXPECT_NE(header_of(requests.front(), "webhook-timestamp"),
              header_of(requests.back(), "webhook-timestamp"));
    EXPECT_NE(header_of(requests.front(), "webhook-signature"),
              header_of(requests.back(), "webhook-signature"));
}

TEST_F(AWebhookCarrier, SignsWithTheSecretsThatItReadLast) {
    const ScriptedServer& server = serve({seen_.answer_all(http_answer("200 OK"))});
    files_["old"] = "whsec_b2xk";
    files_["new"] = "";
    options_.endpoints = {{.url_prefix = url_of(server, "/"), .secret_files = {"old", "new"}}};
    files_["new"] = "b2xk";
    const std::string timestamp =
        std::to_string(std::chrono::floor<std::chrono::seconds>(clock_.now()).time_since_epoch().count());
    const auto signature = [&](const std::vector<std::string>& keys) {
        return webhook::webhook_signature(keys, webhook::webhook_id(*EventId::make("event")), timestamp,
                                          "{}");
    };

    send(parcel(url_of(server)));
    files_["new"] = "bmV3";
    ASSERT_TRUE(carrier().reload());
    send(parcel(url_of(server)));
    files_.erase("old");
    const auto failed = carrier().reload();
    send(parcel(url_of(server)));

    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.error(), HasSubstr("old cannot be read"));
    const auto requests = seen_.all();
    EXPECT_EQ(header_of(requests.at(0), "webhook-id"), webhook::webhook_id(*EventId::make("event")));
    EXPECT_EQ(header_of(requests.at(0), "webhook-timestamp"), timestamp);
    EXPECT_EQ(header_of(requests.at(0), "webhook-signature"), signature({"old", "old"}));
    EXPECT_EQ(header_of(requests.at(1), "webhook-signature"), signature({"old", "new"}));
    EXPECT_EQ(header_of(requests.at(2), "webhook-signature"), signature({"old", "new"}));
}

TEST_F(AWebhookCarrier, SendsTheHeadersOfTheEndpointToNobodyElse) {
    const ScriptedServer& server = serve({seen_.answer_all(http_answer("200 OK"))});
    files_["token"] = "Bearer abc\n";
    options_.endpoints = {{.url_prefix = url_of(server, "/own"),
                           .headers = {{"Authorization", "file:token"}, {"content-type", "text/x"}}}};

    send(parcel(url_of(server, "/own/x")));
    send(parcel(url_of(server, "/owner")));

    EXPECT_EQ(header_of(seen_.all().at(0), "Authorization"), "Bearer abc");
    EXPECT_EQ(header_of(seen_.all().at(0), "content-type"), "text/x");
    EXPECT_EQ(header_of(seen_.all().at(0), "Content-Type"), "(none)");
    EXPECT_EQ(header_of(seen_.all().at(1), "Authorization"), "(none)");
    EXPECT_EQ(header_of(seen_.all().at(1), "Content-Type"), "application/json");
}

TEST_F(AWebhookCarrier, TellsWhatTheEndpointAnswered) {
    const auto answered = [this](const std::string& bytes) {
        const ScriptedServer& server = serve({seen_.answer_all(bytes)});
        Delivery delivery = send(parcel(url_of(server)));
        carrier_.reset();
        return delivery;
    };

    EXPECT_EQ(answered(http_answer("410 Gone", {}, "never again")).kind, Kind::Gone);
    EXPECT_EQ(answered(http_answer("404 Not Found")).kind, Kind::Refused);
    EXPECT_EQ(answered(http_answer("302 Found", "Location: http://127.0.0.1:1/\r\n")).kind, Kind::Failed);
    EXPECT_EQ(answered(http_answer("429 Slow", "Retry-After: 30\r\n")).retry_after, 30s);
    clock_.set(Instant{784'111'777s});
    EXPECT_EQ(answered(http_answer("503 Busy", "retry-after: Sun, 06 Nov 1994 08:51:07 GMT\r\n")).retry_after,
              90s);
    EXPECT_EQ(answered("SSH-2.0-OpenSSH\r\n\r\n").kind, Kind::Failed);
}

TEST_F(AWebhookCarrier, JudgesALongAnswerByItsStatus) {
    const std::string huge = http_answer("200 OK", {}, std::string(1'000'000, 'x'));
    const ScriptedServer& server = serve({seen_.answer_all(huge)});

    const Delivery delivery = send(parcel(url_of(server)));

    EXPECT_EQ(delivery.kind, Kind::Done);
    EXPECT_EQ(delivery.excerpt, std::string(256, 'x'));
}

TEST_F(AWebhookCarrier, NeverSendsTwiceByItself) {
    const auto reads_and_closes = [this](ScriptedPeer& peer) { seen_.add(peer.request()); };
    const auto answers_and_closes_on_the_next = [this](ScriptedPeer& peer) {
        seen_.add(peer.request());
        peer.send(http_answer("200 OK"));
        seen_.add(peer.request());
    };
    const ScriptedServer& server =
        serve({reads_and_closes, answers_and_closes_on_the_next, reads_and_closes});

    const Delivery first = send(parcel(url_of(server), "{}", "first"));
    const Delivery second = send(parcel(url_of(server), "{}", "second"));
    const Delivery third = send(parcel(url_of(server), "{}", "third"));

    EXPECT_EQ(first.kind, Kind::Failed);
    EXPECT_EQ(first.status, 0U);
    EXPECT_EQ(second.kind, Kind::Done);
    EXPECT_EQ(third.kind, Kind::Failed);
    EXPECT_EQ(seen_.all().size(), 3U);
}

TEST_F(AWebhookCarrier, GivesUpWhenTheTimeOfTheEndpointIsOver) {
    const auto drips = [](ScriptedPeer& peer) {
        peer.request();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1");
        peer.wait_for_end();
    };
    const ScriptedServer& server = serve({[](ScriptedPeer& peer) { peer.wait_for_end(); }, drips});
    options_.endpoints = {{.url_prefix = url_of(server, "/"), .timeout = 100ms, .max_concurrent = 2}};
    EXPECT_EQ(carrier().terms({TargetKind::Webhook, url_of(server)}).timeout, 100ms);
    EXPECT_EQ(carrier().terms({TargetKind::Webhook, url_of(server)}).concurrent_max, 2U);
    EXPECT_EQ(carrier().terms({TargetKind::Webhook, "http://a.example/"}).timeout, 15s);

    for (int i = 0; i < 2; ++i) {
        const Delivery delivery = send(parcel(url_of(server)));
        EXPECT_EQ(delivery.kind, Kind::Failed);
        EXPECT_THAT(delivery.error, HasSubstr("did not answer in time"));
    }
}

TEST_F(AWebhookCarrier, AsksOnceBeforeItWritesAndHeedsTheAnswer) {
    const ScriptedServer& server = serve({seen_.answer_all(http_answer("200 OK"))});
    int asked = 0;

    const Delivery withheld = begin(parcel(url_of(server)), [&asked] { return ++asked == 0; }).get();
    const Delivery sent = begin(parcel(url_of(server)), [&asked] { return ++asked == 2; }).get();

    EXPECT_EQ(withheld.kind, Kind::NotSent);
    EXPECT_EQ(sent.kind, Kind::Done);
    EXPECT_EQ(asked, 2);
    EXPECT_EQ(seen_.all().size(), 1U);
}

TEST_F(AWebhookCarrier, CallsNobodyWhoseAddressIsForbidden) {
    const ScriptedServer& server = serve({[](ScriptedPeer& peer) { peer.wait_for_end(); }});
    options_.allow_loopback = false;

    // The name is fine; where it leads is not.
    const std::string by_name = "http://localhost:" + std::to_string(server.port()) + "/";
    EXPECT_TRUE(carrier().route({TargetKind::Webhook, by_name}));
    for (const std::string& url : {by_name, url_of(server)}) {
        const Delivery delivery = send(parcel(url));
        EXPECT_EQ(delivery.kind, Kind::Refused);
        EXPECT_THAT(delivery.error, HasSubstr("is not called: its address"));
        EXPECT_THAT(delivery.error, HasSubstr("is loopback."));
    }

    EXPECT_EQ(server.accepted(), 0U);
}

TEST_F(AWebhookCarrier, NamesWhomATargetReaches) {
    const auto route = [this](const std::string& url) { return carrier().route({TargetKind::Webhook, url}); };

    EXPECT_EQ(route("HTTPS://A.Example/x?y").value(), (Route{"a.example", "https://a.example:443/x"}));
    EXPECT_EQ(route("http://127.0.0.1:81").value(), (Route{"127.0.0.1", "http://127.0.0.1:81/"}));
    EXPECT_EQ(route("http://[::1]/").value(), (Route{"::1", "http://[::1]:80/"}));
    EXPECT_EQ(route("http://10.0.0.1/").error().code, "forbidden_address");
    EXPECT_EQ(route("http://10.0.0.1/").error().detail, "The address 10.0.0.1 is private.");
    EXPECT_EQ(route("http://[::ffff:169.254.169.254]/").error().code, "forbidden_address");
    EXPECT_EQ(route("http://2852039166/").error().code, "forbidden_address");
    EXPECT_EQ(route("http://u:p@a.example/").error().code, "credentials_in_url");
    EXPECT_EQ(route("ftp://a.example/").error().code, "invalid_target");
    EXPECT_EQ(send(parcel("ftp://a.example/")).kind, Kind::Refused);
}

TEST_F(AWebhookCarrier, HasManyCallsUnderWayAtOnce) {
    constexpr std::size_t kCalls = 40;
    std::atomic<std::size_t> asked = 0;
    const ScriptedServer& server =
        serve(std::vector<ScriptedServer::Line>(kCalls, [&asked](ScriptedPeer& peer) {
            peer.request();
            ++asked;
            while (asked < kCalls) {
                std::this_thread::yield();
            }
            peer.send(http_answer("200 OK"));
        }));

    std::vector<std::future<Delivery>> calls;
    for (std::size_t i = 0; i < kCalls; ++i) {
        calls.push_back(begin(parcel(url_of(server))));
    }

    for (auto& call : calls) {
        EXPECT_EQ(call.get().kind, Kind::Done);
    }
}

TEST_F(AWebhookCarrier, WaitsAtItsEndForWhatIsWrittenAndWritesNothingElse) {
    std::promise<void> stopped;
    std::shared_future<void> may_answer = stopped.get_future().share();
    const ScriptedServer& server = serve({[&](ScriptedPeer& peer) {
        seen_.add(peer.request());
        may_answer.wait();
        peer.send(http_answer("200 OK"));
    }});
    // The thread that writes stands still at this gate until the end has begun, and the second call behind
    // it.
    test::Gate gate;
    auto written = begin(parcel(url_of(server), "{}", "written"), [&gate] {
        gate.pass();
        return true;
    });
    gate.await_arrival();
    auto held = begin(parcel(url_of(server), "{}", "held"));
    std::jthread end{[this] { carrier().stop(); }};
    for (bool begun = true; begun;) {
        auto probe = std::make_shared<std::atomic<bool>>(false);
        carrier().send(
            parcel(url_of(server)), [] { return true; }, [probe](const Delivery&) { *probe = true; });
        begun = !*probe;
    }

    gate.let_go();
    EXPECT_EQ(held.get().kind, Kind::NotSent);
    EXPECT_EQ(written.wait_for(0s), std::future_status::timeout);
    stopped.set_value();
    end.join();

    EXPECT_EQ(written.wait_for(0s), std::future_status::ready);
    EXPECT_EQ(seen_.all().size(), 1U);
    EXPECT_EQ(send(parcel(url_of(server))).kind, Kind::NotSent);
}

TEST_F(AWebhookCarrier, IsNotOpenedWithOptionsThatCannotHold) {
    options_.allow = {"10.0.0.0/99"};
    EXPECT_THAT(open_webhook_carrier(options_, log_, clock_).error(),
                HasSubstr("'10.0.0.0/99' is not a net"));
    options_.allow = {};
    options_.secret_files = {"none"};
    EXPECT_THAT(open_webhook_carrier(options_, log_, clock_).error(), HasSubstr("none cannot be read"));
    options_.secret_files = {};
    options_.authorities = "/no/such/file.pem";
    EXPECT_THAT(open_webhook_carrier(options_, log_, clock_).error(), HasSubstr("/no/such/file.pem"));
}

}  // namespace
}  // namespace sluice
