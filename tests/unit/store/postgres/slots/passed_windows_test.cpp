#include "store/postgres/slots/passed_windows.hpp"

#include <set>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace sluice::postgres {
namespace {

TEST(PassedWindows, SkipWhatWasNotedAndNothingElse) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Random random{seed};
        PassedWindows passed;
        std::set<std::pair<Places, WindowIndex>> noted;
        for (int step = 0; step < 30; ++step) {
            const auto held_max = static_cast<Places>(random.below(2));
            const auto first = static_cast<WindowIndex>(random.below(60));
            const auto end = first + static_cast<WindowIndex>(random.below(12));
            passed.note(first, end, held_max);
            for (WindowIndex window = first; window < end; ++window) {
                noted.emplace(held_max, window);
            }
            WindowIndex expected = static_cast<WindowIndex>(random.below(70));
            const WindowIndex asked = expected;
            while (noted.contains({held_max, expected})) {
                ++expected;
            }

            ASSERT_EQ(passed.skip(asked, held_max), expected) << "seed " << seed << ", step " << step;
        }
    }
}

}  // namespace
}  // namespace sluice::postgres
