#include "carry/log/log_carrier.hpp"

#include <gtest/gtest.h>

#include "support/recording_log.hpp"

namespace sluice {
namespace {

Parcel parcel(const std::string& payload) {
    return {*EventId::make("order \"7\""), {.target = {TargetKind::Log}, .payload = payload}};
}

Delivery send(Carrier& carrier, const std::string& payload, bool allowed = true) {
    std::optional<Delivery> delivery;
    carrier.send(
        parcel(payload), [allowed] { return allowed; }, [&](Delivery told) { delivery = std::move(told); });
    return delivery.value();
}

TEST(LogCarrier, WritesOneLineForEachWork) {
    test::RecordingLog log;
    const auto carrier = make_log_carrier(log);

    const Delivery delivery = send(*carrier, "{\"a\":\n\x1B 1}");

    EXPECT_EQ(delivery.kind, Delivery::Kind::Done);
    EXPECT_EQ(delivery.error, "");
    ASSERT_EQ(log.lines().size(), 1U);
    EXPECT_EQ(log.lines().front(), R"(INFO Dispatch - eventId="order \"7\"" payload={"a":\n\x1b 1})");
}

TEST(LogCarrier, WritesOnlyTheBeginningOfALongPayload) {
    test::RecordingLog log;
    const auto carrier = make_log_carrier(log);

    send(*carrier, std::string(kLoggedPayloadMax, 'x'));
    send(*carrier, std::string(kLoggedPayloadMax + 1, 'x'));

    const std::string kept =
        R"(INFO Dispatch - eventId="order \"7\"" payload=)" + std::string(kLoggedPayloadMax, 'x');
    EXPECT_EQ(log.lines(), (std::vector<std::string>{kept, kept + "... (4097 bytes)"}));
}

TEST(LogCarrier, ReachesNobodyWhoCouldFail) {
    test::RecordingLog log;

    EXPECT_EQ(make_log_carrier(log)->route({TargetKind::Log}).value(), Route{});
}

TEST(LogCarrier, WritesNothingThatMustNotBeSent) {
    test::RecordingLog log;
    const auto carrier = make_log_carrier(log);

    EXPECT_EQ(send(*carrier, "{}", false).kind, Delivery::Kind::NotSent);
    carrier->stop();
    EXPECT_EQ(send(*carrier, "{}").kind, Delivery::Kind::NotSent);

    EXPECT_TRUE(log.lines().empty());
}

}  // namespace
}  // namespace sluice
