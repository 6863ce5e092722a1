#include "stream/kafka/topic_name.hpp"

#include <gtest/gtest.h>

namespace sluice::kafka {
namespace {

TEST(TopicName, MayHaveAllThatKafkaAllows) {
    for (const char* const name : {"a", "sms-outbound", "A.b_c-9", "...", ".a", "-"}) {
        EXPECT_EQ(topic_name_fault(name), std::nullopt) << name;
    }
    EXPECT_EQ(topic_name_fault(std::string(249, 'x')), std::nullopt);
}

TEST(TopicName, IsRefusedWithTheReason) {
    EXPECT_EQ(topic_name_fault(""), "A topic has a name.");
    EXPECT_EQ(topic_name_fault(std::string(250, 'x')), "The name of a topic has at most 249 bytes.");
    EXPECT_EQ(topic_name_fault("."), "A topic cannot be named '.' or '..'.");
    EXPECT_EQ(topic_name_fault(".."), "A topic cannot be named '.' or '..'.");
    using namespace std::string_view_literals;
    for (const auto name : {"a b"sv, "a/b"sv, "ä"sv, "a\n"sv, "a\0b"sv, "a:b"sv, "*"sv, "\xff"sv}) {
        EXPECT_EQ(topic_name_fault(name),
                  "The name of a topic consists of letters, digits, '.', '_' and '-'.")
            << name;
    }
}

}  // namespace
}  // namespace sluice::kafka
