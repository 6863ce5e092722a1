#include "base/iso8601.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

struct Row {
    std::string text;
    std::string read;  // What it means, in our own form.
};

std::string name_of_row(const testing::TestParamInfo<Row>& row) { return "Row" + std::to_string(row.index); }

class ReadableTime : public testing::TestWithParam<Row> {};

TEST_P(ReadableTime, IsReadAsUtc) {
    const auto instant = parse_instant(GetParam().text);

    ASSERT_TRUE(instant) << GetParam().text;
    EXPECT_EQ(format_instant(*instant), GetParam().read) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(Iso8601, ReadableTime,
                         testing::Values(Row{"2025-06-01T12:00:02.371Z", "2025-06-01T12:00:02.371Z"},
                                         Row{"2025-06-01T12:00:02Z", "2025-06-01T12:00:02.000Z"},
                                         Row{"2025-06-01T12:00:02z", "2025-06-01T12:00:02.000Z"},
                                         Row{"2025-06-01t12:00:02z", "2025-06-01T12:00:02.000Z"},
                                         Row{"2025-06-01T12:00:02.3Z", "2025-06-01T12:00:02.300Z"},
                                         Row{"2025-06-01T12:00:02.03Z", "2025-06-01T12:00:02.030Z"},
                                         Row{"2025-06-01T12:00:02+05:30", "2025-06-01T06:30:02.000Z"},
                                         Row{"2025-06-01T12:00:02-05:30", "2025-06-01T17:30:02.000Z"},
                                         Row{"2025-06-01T00:00:00+00:00", "2025-06-01T00:00:00.000Z"},
                                         Row{"2025-06-01T00:00:00-00:00", "2025-06-01T00:00:00.000Z"},
                                         Row{"2025-01-01T00:00:00+01:00", "2024-12-31T23:00:00.000Z"},
                                         Row{"1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"},
                                         Row{"1969-12-31T23:00:00-01:00", "1970-01-01T00:00:00.000Z"},
                                         Row{"2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"},
                                         Row{"2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"},
                                         Row{"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"}),
                         name_of_row);

class FinerTime : public testing::TestWithParam<Row> {};

TEST_P(FinerTime, IsRoundedUpToTheMillisecond) {
    const auto instant = parse_instant(GetParam().text);

    ASSERT_TRUE(instant) << GetParam().text;
    EXPECT_EQ(format_instant(*instant), GetParam().read) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(Iso8601, FinerTime,
                         testing::Values(Row{"2025-06-01T12:00:02.3710Z", "2025-06-01T12:00:02.371Z"},
                                         Row{"2025-06-01T12:00:02.371000000Z", "2025-06-01T12:00:02.371Z"},
                                         Row{"2025-06-01T12:00:02.3710001Z", "2025-06-01T12:00:02.372Z"},
                                         Row{"2025-06-01T12:00:02.371999999Z", "2025-06-01T12:00:02.372Z"},
                                         Row{"2025-06-01T12:00:02.0000000000001Z",
                                             "2025-06-01T12:00:02.001Z"},
                                         Row{"2025-06-01T12:00:02.9999Z", "2025-06-01T12:00:03.000Z"},
                                         Row{"2025-12-31T23:59:59.9991Z", "2026-01-01T00:00:00.000Z"},
                                         Row{"1969-12-31T23:59:59.9999Z", "1970-01-01T00:00:00.000Z"}),
                         name_of_row);

class MalformedTime : public testing::TestWithParam<std::string> {};

TEST_P(MalformedTime, IsRefused) {
    const auto instant = parse_instant(GetParam());

    ASSERT_FALSE(instant) << GetParam();
    EXPECT_EQ(instant.error(), TimeError::Malformed) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(
    Iso8601, MalformedTime,
    testing::Values("", "Z", "2025", "2025-06-01", "2025-06-01T12:00:02", "2025-06-01T12:00:02.371",
                    "2025-06-01T12:00:60Z", "2016-12-31T23:59:60Z", "2025-06-01T24:00:00Z",
                    "2025-06-01T12:60:00Z", "2025-02-30T12:00:00Z", "2025-02-29T12:00:00Z",
                    "1900-02-29T00:00:00Z", "2025-04-31T12:00:00Z", "2025-00-10T12:00:00Z",
                    "2025-13-10T12:00:00Z", "2025-06-00T12:00:00Z", "2025-06-32T12:00:00Z",
                    "2025-06-01 12:00:02Z", "2025-6-1T12:00:02Z", "25-06-01T12:00:02Z",
                    "20250-06-01T12:00:02Z", "2025-06-01T1:00:02Z", "2025-06-01T12:00Z",
                    "2025-06-01T12:00:02.Z", "2025-06-01T12:00:02,371Z", "2025-06-01T12:00:020Z",
                    "2025-06-01T12:00:02ZZ", "2025-06-01T12:00:02Z ", " 2025-06-01T12:00:02Z",
                    "2025-06-01T12:00:02+5:30", "2025-06-01T12:00:02+0530", "2025-06-01T12:00:02+05",
                    "2025-06-01T12:00:02+24:00", "2025-06-01T12:00:02+05:60", "2025-06-01T12:00:02+05:300",
                    "2025-06-01T12:00:02 +05:30", "2025-06-01T12:00:02--05:30", "-2025-06-01T12:00:02Z",
                    "+2025-06-01T12:00:02Z", "20250601T120002Z", "1748779202", "1748779202000", "now",
                    "2025-06-01T12:00:0xZ", "2025-06-01T12:00:02.3x1Z", "2025-W22-7T12:00:02Z",
                    std::string{"2025-06-01T12:00:02Z\0", 21}, std::string{"2025-06-01T12:00:02\0Z", 21},
                    "2025-06-01T12:00:02." + std::string(60, '0') + "Z", std::string(1 << 20, '1')));

class TimeBeforeTheEpoch : public testing::TestWithParam<std::string> {};

TEST_P(TimeBeforeTheEpoch, IsOutOfRange) {
    const auto instant = parse_instant(GetParam());

    ASSERT_FALSE(instant) << GetParam();
    EXPECT_EQ(instant.error(), TimeError::OutOfRange) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Iso8601, TimeBeforeTheEpoch,
                         testing::Values("1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00+00:01",
                                         "1900-01-01T00:00:00Z", "0000-01-01T00:00:00Z",
                                         "0001-01-01T00:00:00+23:59"));

TEST(Iso8601, ReadsBackEveryInstantThatItWrites) {
    constexpr std::uint64_t kSeed = 20250601;
    SCOPED_TRACE("seed " + std::to_string(kSeed));
    Random random{kSeed};
    const auto end = parse_instant("9999-12-31T23:59:59.999Z")->time_since_epoch().count();

    for (int i = 0; i < 20'000; ++i) {
        const Instant instant{
            Duration{static_cast<Duration::rep>(random.below(static_cast<std::uint64_t>(end) + 1))}};
        const std::string text = format_instant(instant);

        ASSERT_EQ(text.size(), 24U) << text;
        ASSERT_EQ(parse_instant(text).value(), instant) << text;
    }
}

class ReadableDuration : public testing::TestWithParam<std::pair<std::string, Duration>> {};

TEST_P(ReadableDuration, IsRead) {
    const auto duration = parse_duration(GetParam().first);

    ASSERT_TRUE(duration) << GetParam().first;
    EXPECT_EQ(*duration, GetParam().second) << GetParam().first;
}

INSTANTIATE_TEST_SUITE_P(Iso8601, ReadableDuration,
                         testing::Values(std::pair{"PT4S", 4000ms}, std::pair{"PT1.5S", 1500ms},
                                         std::pair{"PT1H", 3'600'000ms}, std::pair{"PT90S", 90'000ms},
                                         std::pair{"PT1H30M", 5'400'000ms}, std::pair{"P1D", 86'400'000ms},
                                         std::pair{"P1DT2H", 93'600'000ms}, std::pair{"PT0.001S", 1ms},
                                         std::pair{"PT0.250S", 250ms}, std::pair{"PT0.5000000S", 500ms},
                                         std::pair{"P31D", Duration{kDurationMax}},
                                         std::pair{"PT744H", Duration{kDurationMax}},
                                         std::pair{"P0DT1S", 1000ms}, std::pair{"PT0H0M1S", 1000ms}));

class RefusedDuration : public testing::TestWithParam<std::pair<std::string, DurationError>> {};

TEST_P(RefusedDuration, IsRefused) {
    const auto duration = parse_duration(GetParam().first);

    ASSERT_FALSE(duration) << GetParam().first;
    EXPECT_EQ(duration.error(), GetParam().second) << GetParam().first;
}

constexpr auto kMalformed = DurationError::Malformed;
constexpr auto kOutOfRange = DurationError::OutOfRange;

INSTANTIATE_TEST_SUITE_P(
    Iso8601OutOfRange, RefusedDuration,
    testing::Values(std::pair{"PT0S", kOutOfRange}, std::pair{"P0D", kOutOfRange},
                    std::pair{"-PT4S", kOutOfRange}, std::pair{"PT0.0001S", kOutOfRange},
                    std::pair{"PT1.0001S", kOutOfRange}, std::pair{"P31DT0.001S", kOutOfRange},
                    std::pair{"P32D", kOutOfRange}, std::pair{"PT2678400.001S", kOutOfRange},
                    std::pair{"P9999999999DT9999999999H9999999999M9999999999S", kOutOfRange}));

INSTANTIATE_TEST_SUITE_P(Iso8601Malformed, RefusedDuration,
                         testing::Values(std::pair{"P1M", kMalformed}, std::pair{"P1Y", kMalformed},
                                         std::pair{"P1W", kMalformed}, std::pair{"P1Y2M3D", kMalformed},
                                         std::pair{"", kMalformed}, std::pair{"P", kMalformed},
                                         std::pair{"PT", kMalformed}, std::pair{"P1DT", kMalformed},
                                         std::pair{"T1S", kMalformed}, std::pair{"PT1", kMalformed},
                                         std::pair{"1S", kMalformed}, std::pair{"4", kMalformed},
                                         std::pair{"pt4s", kMalformed}, std::pair{"+PT4S", kMalformed},
                                         std::pair{"--PT4S", kMalformed}, std::pair{"PT-4S", kMalformed},
                                         std::pair{"PT+4S", kMalformed}, std::pair{"PT4S ", kMalformed},
                                         std::pair{" PT4S", kMalformed}, std::pair{"PT4S4S", kMalformed},
                                         std::pair{"PT1S1M", kMalformed}, std::pair{"PT1.5M", kMalformed},
                                         std::pair{"PT1.5H", kMalformed}, std::pair{"P1.5D", kMalformed},
                                         std::pair{"PT.5S", kMalformed}, std::pair{"PT1.S", kMalformed},
                                         std::pair{"PT1,5S", kMalformed}, std::pair{"PT1D", kMalformed},
                                         std::pair{"P1H", kMalformed}, std::pair{"P1S", kMalformed},
                                         std::pair{"PTT1S", kMalformed}, std::pair{"PT1e3S", kMalformed},
                                         std::pair{"PT99999999999S", kMalformed},
                                         std::pair{"PT0." + std::string(70, '0') + "1S", kMalformed}));

TEST(Iso8601, WritesTheShortestDuration) {
    EXPECT_EQ(format_duration(4s), "PT4S");
    EXPECT_EQ(format_duration(1500ms), "PT1.5S");
    EXPECT_EQ(format_duration(1ms), "PT0.001S");
    EXPECT_EQ(format_duration(1050ms), "PT1.05S");
    EXPECT_EQ(format_duration(60s), "PT1M");
    EXPECT_EQ(format_duration(1h), "PT1H");
    EXPECT_EQ(format_duration(26h), "P1DT2H");
    EXPECT_EQ(format_duration(24h), "P1D");
    EXPECT_EQ(format_duration(kDurationMax), "P31D");
    EXPECT_EQ(format_duration(0ms), "PT0S");
}

TEST(Iso8601, ReadsBackEveryDurationThatItWrites) {
    constexpr std::uint64_t kSeed = 4242;
    SCOPED_TRACE("seed " + std::to_string(kSeed));
    Random random{kSeed};

    for (int i = 0; i < 20'000; ++i) {
        const auto range = static_cast<std::uint64_t>(kDurationMax.count()) >> random.below(32);
        const Duration duration{static_cast<Duration::rep>(random.below(range)) + 1};
        const std::string text = format_duration(duration);

        ASSERT_EQ(parse_duration(text).value(), duration) << text;
    }
}

}  // namespace
}  // namespace sluice
