#include "base/escaped_text.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::string escaped(std::string_view bytes, std::size_t most = std::string::npos) {
    std::string line;
    append_escaped(line, bytes, most);
    return line;
}

TEST(EscapedText, EscapesWhatIsNotTextOfOneLine) {
    EXPECT_EQ(escaped("a\nb\rc\td"), "a\\nb\\rc\\td");
    EXPECT_EQ(escaped(std::string_view{"\0\x1B[2J\x7F", 6}), "\\x00\\x1b[2J\\x7f");
    EXPECT_EQ(escaped("\xFF\xC3("), "\\xff\\xc3(");
    EXPECT_EQ(escaped("\xC3\xA4 \xE2\x80\xA8 \xC2\x9B"), "\xC3\xA4 \\u2028 \\u009b");
}

TEST(EscapedText, CutsNeitherACharacterNorAnEscape) {
    EXPECT_EQ(escaped("abc", 2), "ab");
    EXPECT_EQ(escaped("ab", 2), "ab");
    EXPECT_EQ(escaped("a\nb", 2), "a");
    EXPECT_EQ(escaped("a\nb", 3), "a\\n");
    EXPECT_EQ(escaped("a\xFFz", 4), "a");
    EXPECT_EQ(escaped("a\xC3\xA4z", 2), "a");
    EXPECT_EQ(escaped("a\xC3\xA4z", 3), "a\xC3\xA4");
    EXPECT_EQ(escaped("a", 0), "");
}

TEST(EscapedText, TellsHowMuchItTook) {
    std::string line = "> ";

    EXPECT_EQ(append_escaped(line, "a\nbc", 4), 3U);
    EXPECT_EQ(line, "> a\\nb");
    EXPECT_EQ(append_escaped(line, "\n"), 1U);
}

}  // namespace
}  // namespace sluice
