// What webhooks say, and how their answers are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/dispatch/work_store.hpp"
#include "base/iso8601.hpp"
#include "base/percent.hpp"
#include "carry/webhook/outcome.hpp"
#include "carry/webhook/retry_after.hpp"
#include "carry/webhook/signature.hpp"

namespace sluice::webhook {
namespace {

using namespace std::chrono_literals;
using Kind = Delivery::Kind;

EventId event(const std::string& text) { return EventId::make(text).value(); }

TEST(Signature, IsThatOfTheStandardsExample) {
    const auto key = parse_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").value();

    EXPECT_EQ(
        webhook_signature({key}, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", R"({"test": 2432232314})"),
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST(Signature, IsThereForEveryKey) {
    const std::string one = webhook_signature({"one"}, "id", "1", "body");
    const std::string two = webhook_signature({"two"}, "id", "1", "body");

    EXPECT_NE(one, two);
    EXPECT_EQ(webhook_signature({"one", "two"}, "id", "1", "body"), one + " " + two);
}

TEST(Signature, ReadsSecretsAsTheStandardWritesThem) {
    for (const char* const text :
         {"whsec_Zm9vYg==", "Zm9vYg==", "whsec_Zm9vYg", " Zm9vYg\n", "\r\n\tZm9vYg==\r\n"}) {
        EXPECT_EQ(parse_secret(text).value(), "foob") << text;
    }
    for (const char* const text : {"whsec_secret!", "whsec_-_-_", "Zm9v Yg==", "whsec_whsec_Zm9v"}) {
        ASSERT_FALSE(parse_secret(text)) << text;
        EXPECT_EQ(parse_secret(text).error(), "is not base64");
    }
    for (const char* const text : {"", "whsec_", " \n"}) {
        ASSERT_FALSE(parse_secret(text)) << text;
        EXPECT_EQ(parse_secret(text).error(), "is empty");
    }
}

TEST(WebhookId, IsMadeOfTheEventAlone) {
    EXPECT_EQ(webhook_id(event("abc")), "evt_ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
}

TEST(IdempotencyKey, IsTheEventWhereAHeaderCanHoldIt) {
    EXPECT_EQ(idempotency_key(event("order-7:a/b\"c'~!")), "order-7:a/b\"c'~!");
    EXPECT_EQ(idempotency_key(event(" a b\xC3\xA4 ")), "%20a%20b%C3%A4%20");
}

TEST(IdempotencyKey, IsNeverTheSameForTwoEvents) {
    EXPECT_NE(idempotency_key(event("a b")), idempotency_key(event("a%20b")));
    for (const char* const text : {"a b", "a%20b", "100%", "\xE2\x82\xAC"}) {
        EXPECT_EQ(percent_decode(idempotency_key(event(text))), text);
    }
}

constexpr Instant kNow{784'111'777s};  // Sun, 06 Nov 1994 08:49:37 GMT.

TEST(RetryAfter, ReadsSeconds) {
    EXPECT_EQ(parse_retry_after("0", kNow), 0s);
    EXPECT_EQ(parse_retry_after("120", kNow), 120s);
    EXPECT_EQ(parse_retry_after("0000000000000120", kNow), 120s);
    EXPECT_EQ(parse_retry_after("31622400", kNow), kRetryAfterMax);
    EXPECT_EQ(parse_retry_after("99999999999999999999999", kNow), kRetryAfterMax);
}

TEST(RetryAfter, ReadsDates) {
    EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", kNow), 0s);
    EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:51:07 GMT", kNow), 90s);
    EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:51:07 GMT", kNow + 300ms), 89'700ms);
    EXPECT_EQ(parse_retry_after("Mon, 07 Nov 1994 08:49:37 GMT", kNow), 24h);
    EXPECT_EQ(parse_retry_after("Sat, 05 Nov 1994 08:49:37 GMT", kNow), 0s);
    EXPECT_EQ(parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", kNow), kRetryAfterMax);
}

TEST(RetryAfter, TakesNothingElse) {
    for (const char* const text : {"",
                                   " ",
                                   "-1",
                                   "+1",
                                   "1.5",
                                   "1s",
                                   "soon",
                                   "120 ",
                                   "Sun, 06 Nov 1994 08:49:37",
                                   "Sun, 06 Nov 1994 08:49:37 UTC",
                                   "Sunday, 06-Nov-94 08:49:37 GMT",
                                   "Sun Nov  6 08:49:37 1994",
                                   "Sun, 32 Nov 1994 08:49:37 GMT",
                                   "Sun, 30 Feb 1994 08:49:37 GMT",
                                   "Sun, 06 Nov 1994 24:49:37 GMT",
                                   "Sun, 06 Nov 1994 08:60:37 GMT",
                                   "Sun, 06 Nov 1994 08:49:61 GMT",
                                   "Sun, 06 Nox 1994 08:49:37 GMT",
                                   "Son, 06 Nov 1994 08:49:37 GMT",
                                   "Sun, 6 Nov 1994 08:49:37 GMT",
                                   "Sun, 00 Nov 1994 08:49:37 GMT",
                                   "Sun, 06 Nov 1994 08:49:37 GMT "}) {
        EXPECT_EQ(parse_retry_after(text, kNow), std::nullopt) << text;
    }
}

net::HttpOutcome answer(unsigned status, net::HttpHeaders headers = {}, std::string body = {}) {
    return net::HttpResponse{status, std::move(body), std::move(headers)};
}

TEST(Outcome, FollowsTheStatus) {
    for (const unsigned status : {200U, 201U, 202U, 204U, 299U}) {
        EXPECT_EQ(delivery_of(answer(status), kNow).kind, Kind::Done) << status;
        EXPECT_EQ(delivery_of(answer(status), kNow).error, "") << status;
    }
    for (const unsigned status : {300U, 301U, 302U, 304U, 307U, 308U, 408U, 425U, 429U, 500U, 502U, 503U,
                                  504U, 599U, 100U, 103U, 600U, 999U}) {
        EXPECT_EQ(delivery_of(answer(status), kNow).kind, Kind::Failed) << status;
    }
    for (const unsigned status : {400U, 401U, 403U, 404U, 405U, 409U, 411U, 413U, 422U, 499U}) {
        EXPECT_EQ(delivery_of(answer(status), kNow).kind, Kind::Refused) << status;
    }
    EXPECT_EQ(delivery_of(answer(410), kNow).kind, Kind::Gone);
    EXPECT_EQ(delivery_of(answer(410), kNow).status, 410U);
    EXPECT_EQ(delivery_of(answer(503), kNow).error, "The endpoint answered with status 503.");
    EXPECT_EQ(delivery_of(answer(302), kNow).error,
              "The endpoint answered with status 302; redirects are not followed.");
}

TEST(Outcome, PassesOnWhenToTryAgain) {
    for (const unsigned status : {429U, 503U, 500U, 302U}) {
        EXPECT_EQ(delivery_of(answer(status, {{"retry-after", "7"}}), kNow).retry_after, 7s) << status;
    }
    EXPECT_EQ(delivery_of(answer(503, {{"Retry-After", "Sun, 06 Nov 1994 08:51:07 GMT"}}), kNow).retry_after,
              90s);
    EXPECT_EQ(delivery_of(answer(503, {{"Retry-After", "later"}}), kNow).retry_after, std::nullopt);
    EXPECT_EQ(delivery_of(answer(503), kNow).retry_after, std::nullopt);
    EXPECT_EQ(delivery_of(answer(200, {{"Retry-After", "7"}}), kNow).retry_after, std::nullopt);
}

TEST(Outcome, KeepsTheBeginningOfTheAnswerWithoutWhatCouldSteerATerminal) {
    EXPECT_EQ(delivery_of(answer(200, {}, "ok\r\n\x1B[2J\xFF\xC3\xA4"), kNow).excerpt,
              "ok\\r\\n\\x1b[2J\\xff\xC3\xA4");
    EXPECT_EQ(delivery_of(answer(500, {}, std::string(300, 'x')), kNow).excerpt, std::string(256, 'x'));
    // An escape that does not fit is left out as a whole.
    std::string long_answer(255, 'x');
    long_answer.append(2, '\n');
    EXPECT_EQ(delivery_of(answer(500, {}, long_answer), kNow).excerpt, std::string(255, 'x'));
    EXPECT_LE(delivery_of(answer(500, {}, std::string(300, '\0')), kNow).excerpt.size(), kExcerptMax);
}

TEST(Outcome, TellsWhatMayHealFromWhatDoesNot) {
    using Fault = net::HttpFault::Kind;
    const auto kind_of = [](Fault fault) {
        const Delivery delivery = delivery_of(Unexpected{net::HttpFault{fault, "It is so."}}, kNow);
        EXPECT_EQ(delivery.error, "It is so.");
        EXPECT_EQ(delivery.status, 0U);
        return delivery.kind;
    };
    for (const Fault fault : {Fault::UnknownHost, Fault::Unreachable, Fault::Tls, Fault::Late,
                              Fault::TooLarge, Fault::Malformed, Fault::Lost}) {
        EXPECT_EQ(kind_of(fault), Kind::Failed);
    }
    EXPECT_EQ(kind_of(Fault::AddressRefused), Kind::Refused);
    EXPECT_EQ(kind_of(Fault::BadRequest), Kind::Refused);
    EXPECT_EQ(kind_of(Fault::Withheld), Kind::NotSent);
}

}  // namespace
}  // namespace sluice::webhook
