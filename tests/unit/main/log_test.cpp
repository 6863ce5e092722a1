#include <gmock/gmock.h>

#include "base/json_text.hpp"
#include "main/daemon_log.hpp"
#include "main/log_line.hpp"
#include "support/hand_clock.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr Instant kNoon{std::chrono::sys_days{std::chrono::June / 1 / 2025} + 12h + 2371ms};

std::string message_text(std::string_view message) {
    const std::string line = text_line({kNoon, LogLevel::Info, "C", message});
    return line.substr(line.find(" - ") + 3);
}

TEST(LogLine, IsWrittenAsTheContractSays) {
    EXPECT_EQ(text_line({kNoon, LogLevel::Info, "SlotAssignmentService", "message"}),
              "2025-06-01T12:00:02.371Z INFO  SlotAssignmentService - message");
    EXPECT_EQ(text_line({kNoon, LogLevel::Debug, "C", "m"}), "2025-06-01T12:00:02.371Z DEBUG C - m");
    EXPECT_EQ(text_line({kNoon, LogLevel::Warn, "C", "m"}), "2025-06-01T12:00:02.371Z WARN  C - m");
    EXPECT_EQ(text_line({kNoon, LogLevel::Error, "C", "m"}), "2025-06-01T12:00:02.371Z ERROR C - m");
}

TEST(LogLine, StaysOneLineWhateverTheMessageHolds) {
    EXPECT_EQ(message_text("a\r\nERROR forged\tx"), "a\\r\\nERROR forged\\tx");
    EXPECT_EQ(message_text(std::string_view{"\0\x1b[31m\x7f", 7}), "\\x00\\x1b[31m\\x7f");
    EXPECT_EQ(message_text("a\xC2\x85"
                           "b\xE2\x80\xA8"
                           "c"),
              "a\\u0085b\\u2028c");
    EXPECT_EQ(message_text("\xFF\xC3("), "\\xff\\xc3(");
    EXPECT_EQ(message_text("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"), "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
}

TEST(LogLine, KeepsTheBeginningOfALongMessage) {
    EXPECT_EQ(message_text(std::string(kLogMessageMax, 'x')).size(), kLogMessageMax);
    EXPECT_EQ(message_text(std::string(kLogMessageMax + 1, 'x')).size(), kLogMessageMax);
    std::string cut_in_a_character(kLogMessageMax - 1, 'x');
    cut_in_a_character += "\xE2\x82\xAC";
    EXPECT_THAT(message_text(cut_in_a_character), EndsWith("x"));
}

TEST(LogLine, IsAnObjectInJson) {
    EXPECT_EQ(json_line({kNoon, LogLevel::Warn, "C", "say \"a\\b\"\r\n\x01\xFF"}),
              R"({"time":"2025-06-01T12:00:02.371Z","level":"WARN","component":"C",)"
              R"("message":"say \"a\\b\"\u000d\n\u0001\ufffd"})");
}

TEST(JsonText, RefusesBytesThatAreNoCharacters) {
    for (const char* broken :
         {"\x80", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5", "\xE2\x82"}) {
        EXPECT_THAT(json_string(broken), HasSubstr("\\ufffd")) << broken;
    }
}

TEST(DaemonLog, WritesWhatItsLevelLetsThrough) {
    const test::HandClock clock{kNoon};
    ::testing::internal::CaptureStderr();
    {
        const auto log = make_daemon_log(LogLevel::Warn, LogFormat::Text, clock);
        log->write(LogLevel::Info, "C", "quiet");
        log->write(LogLevel::Warn, "C", "loud\n");
        log->announce("C", "ready");

        EXPECT_FALSE(log->enabled(LogLevel::Info));
        EXPECT_TRUE(log->enabled(LogLevel::Error));
        EXPECT_EQ(log->lines_dropped(), 0U);
    }

    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "2025-06-01T12:00:02.371Z WARN  C - loud\\n\n2025-06-01T12:00:02.371Z INFO  C - ready\n");
}

TEST(DaemonLog, DropsTheOldestLinesAndCountsThem) {
    constexpr std::uint64_t kLines = 200'000;
    const test::HandClock clock{kNoon};
    std::uint64_t dropped = 0;
    ::testing::internal::CaptureStderr();
    {
        const auto log = make_daemon_log(LogLevel::Info, LogFormat::Text, clock);
        for (std::uint64_t i = 0; i < kLines; ++i) {
            log->write(LogLevel::Info, "C", "line");
        }
        log->write(LogLevel::Info, "C", "last");
        dropped = log->lines_dropped();
    }

    const std::string written = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(static_cast<std::uint64_t>(std::count(written.begin(), written.end(), '\n')) + dropped,
              kLines + 1);
    EXPECT_THAT(written.substr(written.size() - 6), HasSubstr("last"));
}

}  // namespace
}  // namespace sluice
