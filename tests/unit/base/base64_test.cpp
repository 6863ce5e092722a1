#include "base/base64.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Base64, WritesAndReadsTheExamplesOfItsStandard) {
    const std::vector<std::pair<std::string, std::string>> examples = {
        {"", ""},           {"f", "Zg"},          {"fo", "Zm8"},         {"foo", "Zm9v"},
        {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"}};
    for (const auto& [bytes, letters] : examples) {
        const std::string padded = letters + std::string((4 - letters.size() % 4) % 4, '=');

        EXPECT_EQ(base64(bytes), padded);
        EXPECT_EQ(base64_url(bytes), letters);
        EXPECT_EQ(base64_decode(padded), bytes);
        EXPECT_EQ(base64_decode(letters), bytes);
    }
}

TEST(Base64, HasTwoAlphabetsAndReadsTheUsualOne) {
    const std::string bytes = "\xFB\xFF\xFE";

    EXPECT_EQ(base64(bytes), "+//+");
    EXPECT_EQ(base64_url(bytes), "-__-");
    EXPECT_EQ(base64_decode("+//+"), bytes);
    EXPECT_EQ(base64_decode("-__-"), std::nullopt);
}

TEST(Base64, RefusesWhatNobodyWouldWrite) {
    for (const char* const text : {"Z", "Zg=", "Zg===", "=", "====", "Zm9v=", "Zm9v====", "Zh==", "Zm9",
                                   "Z m9v", "Zm9v\n", "Zm=v", "Zg==Zg=="}) {
        EXPECT_EQ(base64_decode(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace sluice
