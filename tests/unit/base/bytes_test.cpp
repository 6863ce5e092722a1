#include "base/bytes.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Bytes, PutTheMostSignificantByteFirst) {
    const std::string bytes = ByteWriter{}
                                  .number(std::uint8_t{0x01})
                                  .number(std::uint16_t{0x0203})
                                  .number(std::uint32_t{0x04050607})
                                  .number(std::uint64_t{0x08090A0B0C0D0E0F})
                                  .bytes();

    EXPECT_EQ(bytes, std::string("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\x0C\x0D\x0E\x0F", 15));
}

TEST(Bytes, SortLikeTheNumbersTheyHold) {
    const auto encoded = [](std::uint64_t number) { return ByteWriter{}.number(number).bytes(); };

    EXPECT_LT(encoded(0), encoded(1));
    EXPECT_LT(encoded(255), encoded(256));
    EXPECT_LT(encoded(0x7FFFFFFFFFFFFFFF), encoded(0x8000000000000000));
}

TEST(Bytes, AreReadBackAsTheyWereWritten) {
    const std::string bytes = ByteWriter{}
                                  .number(std::uint8_t{0xFF})
                                  .text("")
                                  .text(std::string_view{"a\0b", 3})
                                  .number(std::uint64_t{0xFFFFFFFFFFFFFFFF})
                                  .number(std::uint32_t{7})
                                  .number(std::uint16_t{0xABCD})
                                  .bytes();

    ByteReader reader{bytes};
    EXPECT_EQ(reader.number<std::uint8_t>(), 0xFF);
    EXPECT_EQ(reader.text(), "");
    EXPECT_EQ(reader.text(), (std::string_view{"a\0b", 3}));
    EXPECT_EQ(reader.number<std::uint64_t>(), 0xFFFFFFFFFFFFFFFF);
    EXPECT_EQ(reader.number<std::uint32_t>(), 7U);
    EXPECT_FALSE(reader.consumed());
    EXPECT_EQ(reader.number<std::uint16_t>(), 0xABCD);
    EXPECT_TRUE(reader.consumed());
}

TEST(Bytes, HoldTextOf65535Bytes) {
    const std::string text(65535, 'x');

    const std::string bytes = ByteWriter{}.text(text).bytes();

    ByteReader reader{bytes};
    EXPECT_EQ(reader.text(), text);
    EXPECT_TRUE(reader.consumed());
}

TEST(Bytes, GiveZerosPastTheEndAndSaySo) {
    ByteReader reader{std::string_view{"\x01\x02\x03", 3}};

    EXPECT_EQ(reader.number<std::uint32_t>(), 0U);
    EXPECT_FALSE(reader.ok());
    EXPECT_FALSE(reader.consumed());
    EXPECT_EQ(reader.number<std::uint8_t>(), 0U) << "once wrong, always wrong";
    EXPECT_EQ(reader.text(), "");
}

TEST(Bytes, RefuseTextThatIsCutShort) {
    ByteReader reader{
        std::string_view{"\x00\x05"
                         "abcd",
                         6}};

    EXPECT_EQ(reader.text(), "");
    EXPECT_FALSE(reader.ok());
}

TEST(Bytes, AreEmptyAfterClearing) {
    ByteWriter writer;
    writer.raw("abc").clear();

    EXPECT_EQ(writer.raw("d").bytes(), "d");
}

}  // namespace
}  // namespace sluice
