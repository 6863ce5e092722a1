#include "base/name.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using ShortName = Name<struct ShortTag, 8>;

TEST(Name, HoldsOneByteUpToItsMaximum) {
    EXPECT_FALSE(ShortName::make(""));
    EXPECT_TRUE(ShortName::make("a"));
    EXPECT_TRUE(ShortName::make("12345678"));
    EXPECT_FALSE(ShortName::make("123456789"));
    EXPECT_FALSE(ShortName::make(std::string(1 << 20, 'x')));
}

TEST(Name, CountsBytesAndNotCharacters) {
    EXPECT_TRUE(ShortName::make("\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"));
    EXPECT_FALSE(ShortName::make("\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"));
}

TEST(Name, IsKeptVerbatim) {
    for (const char* text : {"'; DROP", "]]..r()", "{a}", "a:b", "a b", "%00", "\xE2\x82\xAC", "\\x"}) {
        const auto name = ShortName::make(text);

        ASSERT_TRUE(name) << text;
        EXPECT_EQ(name->text(), text);
    }
}

TEST(Name, ComparesByItsBytes) {
    EXPECT_EQ(*ShortName::make("a"), *ShortName::make("a"));
    EXPECT_LT(*ShortName::make("a"), *ShortName::make("b"));
    EXPECT_LT(*ShortName::make("Z"), *ShortName::make("a"));
}

TEST(PrintableUtf8, RefusesEveryControlCharacterOfOneByte) {
    for (int byte = 0; byte < 0x80; ++byte) {
        const std::string text{'a', static_cast<char>(byte), 'b'};
        const bool control = byte < 0x20 || byte == 0x7F;

        EXPECT_EQ(is_printable_utf8(text), !control) << byte;
    }
}

TEST(PrintableUtf8, RefusesTheControlCharactersOfTwoBytes) {
    EXPECT_FALSE(is_printable_utf8("\xC2\x80"));
    EXPECT_FALSE(is_printable_utf8("a\xC2\x85z"));  // NEL: a line break to some readers of logs.
    EXPECT_FALSE(is_printable_utf8("\xC2\x9B"));    // CSI: starts a terminal command.
    EXPECT_FALSE(is_printable_utf8("\xC2\x9F"));
    EXPECT_TRUE(is_printable_utf8("\xC2\xA0"));
}

TEST(PrintableUtf8, AcceptsTheFirstAndTheLastCharacterOfEveryLength) {
    for (const char* text : {"\x20", "\x7E", "\xC2\xA0", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
                             "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
        EXPECT_TRUE(is_printable_utf8(text)) << testing::PrintToString(std::string{text});
    }
}

TEST(PrintableUtf8, RefusesWhatIsNotUtf8) {
    for (const char* text : {
             "\x80",
             "\xBF",
             "\xFF",
             "\xFE",  // No leading bytes.
             "\xC0\x80",
             "\xC1\xBF",
             "\xE0\x9F\xBF",
             "\xF0\x8F\xBF\xBF",  // Overlong.
             "\xED\xA0\x80",
             "\xED\xBF\xBF",  // Surrogates.
             "\xF4\x90\x80\x80",
             "\xF5\x80\x80\x80",  // Past U+10FFFF.
             "\xC3",
             "\xE2\x82",
             "\xF0\x9F\x98",
             "a\xE2",  // Cut short.
             "\xC3(",
             "\xE2(\xAC",
             "\xE2\x82(",
             "\xF0\x9F\x98(",  // Broken off by something else.
         }) {
        EXPECT_FALSE(is_printable_utf8(text)) << testing::PrintToString(std::string{text});
    }
}

TEST(PrintableUtf8, AgreesWithADecoderOnEveryTextOfTwoBytes) {
    for (int first = 0; first < 256; ++first) {
        for (int second = 0; second < 256; ++second) {
            const auto plain = [](int byte) { return byte >= 0x20 && byte < 0x7F; };
            const bool two_byte_character = first >= 0xC2 && first <= 0xDF && second >= 0x80 &&
                                            second <= 0xBF && ((first & 0x1F) << 6 | (second & 0x3F)) >= 0xA0;
            const std::string text{static_cast<char>(first), static_cast<char>(second)};

            ASSERT_EQ(is_printable_utf8(text), two_byte_character || (plain(first) && plain(second)))
                << first << ' ' << second;
        }
    }
}

}  // namespace
}  // namespace sluice
