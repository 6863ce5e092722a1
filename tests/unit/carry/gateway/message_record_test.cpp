#include "carry/gateway/message_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::Pair;

kafka::Record record(std::optional<std::string> value,
                     std::vector<std::pair<std::string, std::string>> headers = {}) {
    return {.partition = 2, .offset = 17, .value = std::move(value), .headers = std::move(headers)};
}

Result<OutgoingMessage, std::string> message_of(const kafka::Record& record) {
    return arrival_of(record, "sms-outbound").message;
}

std::string fault_of(const kafka::Record& record) {
    const auto message = message_of(record);
    return message ? "none" : message.error();
}

TEST(MessageRecord, HasTheValueByteForByteNoKeyAndAllHeadersInOrder) {
    const Instant noon = kEpoch + std::chrono::hours{12};
    const auto written = record_of({.id = *MessageId::make("msg-1"),
                                    .user = {101},
                                    .text = "Hello:  \n\"World\" \xff",
                                    .to = Party::make("+49 1"),
                                    .from = Party::make("bank"),
                                    .expires = noon + Duration{7},
                                    .request = RequestId::make("r ä"),
                                    .window_start = noon},
                                   "sms-outbound");

    EXPECT_EQ(written.topic, "sms-outbound");
    EXPECT_EQ(written.value, "101: Hello:  \n\"World\" \xff");
    EXPECT_EQ(written.key, std::nullopt);
    EXPECT_THAT(written.headers,
                ElementsAre(Pair("message-id", "msg-1"), Pair("request-id", "r ä"),
                            Pair("window-start", "1970-01-01T12:00:00.000Z"), Pair("to", "+49 1"),
                            Pair("from", "bank"), Pair("expires", "1970-01-01T12:00:00.007Z")));
}

TEST(MessageRecord, HasNoHeadersOfWhatAMessageHasNot) {
    const auto written =
        record_of({.id = *MessageId::make("msg-1"), .user = {0}, .text = "x"}, "sms-outbound");

    EXPECT_EQ(written.value, "0: x");
    EXPECT_THAT(written.headers, ElementsAre(Pair("message-id", "msg-1")));
}

TEST(MessageRecord, IsReadAsItWasWritten) {
    const OutgoingMessage message{.id = *MessageId::make("msg-1"),
                                  .user = {2147483647},
                                  .text = "a: b",
                                  .to = Party::make("+49 1"),
                                  .from = Party::make("bank"),
                                  .expires = kEpoch + Duration{7}};
    const auto written = record_of(message, "sms-outbound");

    const auto arrival = arrival_of(record(written.value, written.headers), "sms-outbound");

    EXPECT_EQ(arrival.partition, 2);
    EXPECT_EQ(arrival.offset, 17);
    ASSERT_TRUE(arrival.message) << arrival.message.error();
    EXPECT_EQ(arrival.message->id, message.id);
    EXPECT_EQ(arrival.message->user, message.user);
    EXPECT_EQ(arrival.message->text, message.text);
    EXPECT_EQ(arrival.message->to, message.to);
    EXPECT_EQ(arrival.message->from, message.from);
    EXPECT_EQ(arrival.message->expires, message.expires);
}

TEST(MessageRecord, OfAnotherPublisherIsKnownByItsPlace) {
    EXPECT_EQ(message_of(record("1: x"))->id.text(), "sms-outbound-2-17");
    EXPECT_EQ(message_of(record("1: x", {{"message-id", "a\nb"}}))->id.text(), "sms-outbound-2-17");
    EXPECT_EQ(arrival_of(record("1: x"), std::string(249, 't')).message->id.text(),
              std::string(20, 't') + "-2-17");
}

TEST(MessageRecord, IsMalformedWithoutAUserAndAText) {
    EXPECT_EQ(fault_of(record(std::nullopt)), "it has no value");
    EXPECT_EQ(fault_of(record("")), "it is not of the form {userId}: {message}: \"\"");
    EXPECT_EQ(fault_of(record("1:x")), "it is not of the form {userId}: {message}: \"1:x\"");
    for (const char* const value : {": x", "-1: x", "-0: x", "+1: x", " 1: x", "1 : x", "1.0: x", "0x1: x",
                                    "2147483648: x", "99999999999999999999: x"}) {
        EXPECT_EQ(fault_of(record(value)), "no user id is at its beginning: \"" + std::string{value} + "\"");
    }
    EXPECT_EQ(fault_of(record("1: \t ")), "its text is blank or too long: \"1: \\t \"");
    EXPECT_EQ(fault_of(record("1: " + std::string(kMessageBytesMax, 'x'))), "none");
    EXPECT_EQ(fault_of(record("1: " + std::string(kMessageBytesMax + 1, 'x'))),
              "its text is blank or too long: \"1: " + std::string(97, 'x') + "\"...");
}

TEST(MessageRecord, IsMalformedWithHeadersThatSayNothing) {
    EXPECT_EQ(fault_of(record("1: x", {{"expires", "soon"}})), "its header expires is no time: \"soon\"");
    EXPECT_EQ(fault_of(record("1: x", {{"to", "a\x1b[2Jb"}})), "its header to is no name: \"a\\x1b[2Jb\"");
    EXPECT_EQ(fault_of(record("1: x", {{"from", ""}})), "its header from is no name: \"\"");
    EXPECT_EQ(fault_of(record("1: x", {{"window-start", "?"}, {"request-id", "\n"}})), "none");
}

TEST(MessageRecord, SaysWhatIsWrongOnOneLine) {
    EXPECT_EQ(fault_of(record("INFO\nsms\r\xff")),
              "it is not of the form {userId}: {message}: \"INFO\\nsms\\r\\xff\"");
}

}  // namespace
}  // namespace sluice
