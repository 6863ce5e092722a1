#include "door/http/traceparent.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

const std::string kGood = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(Traceparent, IsTakenAsItStandsWhenItIsWellFormed) { EXPECT_EQ(well_formed_traceparent(kGood), kGood); }

TEST(Traceparent, IsAsIfNotSentWhenItIsNot) {
    std::string upper = kGood;
    upper[3] = 'A';
    std::string newer = kGood;
    newer[1] = '1';
    std::string no_dash = kGood;
    no_dash[35] = '0';

    for (const std::string& wrong : {std::string{}, kGood.substr(1), kGood + "-x", upper, newer, no_dash,
                                     "00-" + std::string(32, '0') + "-00f067aa0ba902b7-01",
                                     "00-4bf92f3577b34da6a3ce929d0e0e4736-" + std::string(16, '0') + "-01"}) {
        EXPECT_EQ(well_formed_traceparent(wrong), "") << wrong;
    }
}

}  // namespace
}  // namespace sluice::http
