#include "base/backoff.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using std::chrono::milliseconds;

TEST(Backoff, DoublesUpToItsMostWithARandomHalfLeftOut) {
    Backoff backoff{{milliseconds{50}, milliseconds{2000}}, 1};
    milliseconds whole{50};

    for (int i = 0; i < 20; ++i) {
        const auto pause = backoff.next();

        EXPECT_GE(pause, whole / 2);
        EXPECT_LE(pause, whole);
        whole = std::min(whole * 2, milliseconds{2000});
    }
    backoff.reset();
    EXPECT_LE(backoff.next(), milliseconds{50});
}

}  // namespace
}  // namespace sluice
