#include "door/http/body_budget.hpp"

#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "door/http/body_pace.hpp"

namespace sluice::http {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Bodies on one thread, under a budget of 100 bytes.
class BodyBudgetTest : public ::testing::Test {
protected:
    // Begins to grow a share; what comes of it is there when it is decided.
    void grow(BodyShare& share, std::size_t bytes, std::optional<bool>& outcome,
              milliseconds patience = seconds{60}) {
        asio::co_spawn(io_, growing(share, bytes, patience, outcome), asio::detached);
        settle();
    }
    void settle() {
        io_.restart();
        io_.poll();
    }

    BodyBudget budget_{100};
    asio::io_context io_;

private:
    static asio::awaitable<void> growing(BodyShare& share, std::size_t bytes, milliseconds patience,
                                         std::optional<bool>& outcome) {
        const bool granted = co_await share.grow_to(bytes, patience);
        outcome = granted;
    }
};

TEST_F(BodyBudgetTest, CountsABodyForWhatHasArrivedOfIt) {
    std::optional<bool> first;
    std::optional<bool> second;
    {
        BodyShare share{budget_};
        grow(share, 10, first);
        EXPECT_EQ(budget_.taken(), 10U);
        grow(share, 40, second);
        EXPECT_EQ(budget_.taken(), 40U);
    }

    EXPECT_EQ(first, true);
    EXPECT_EQ(second, true);
    EXPECT_EQ(budget_.taken(), 0U);
}

TEST_F(BodyBudgetTest, LetsOneBodyGoBeyondTheBoundSoThatHalfReadOnesDoNotWaitForEachOther) {
    BodyShare waits{budget_};
    std::optional<bool> done;
    std::optional<bool> beyond;
    std::optional<bool> later;
    std::optional<bool> waiting;
    {
        BodyShare goes_on{budget_};
        grow(waits, 50, done);
        grow(goes_on, 50, done);

        grow(goes_on, 60, beyond);
        grow(waits, 60, waiting);
        grow(goes_on, 90, later);

        EXPECT_EQ(beyond, true);
        EXPECT_EQ(later, true);
        EXPECT_EQ(waiting, std::nullopt);
        EXPECT_EQ(budget_.taken(), 140U);
    }
    settle();

    EXPECT_EQ(waiting, true);
    EXPECT_EQ(budget_.taken(), 60U);
}

TEST_F(BodyBudgetTest, ServesThoseWhoWaitInOrder) {
    auto large = std::make_unique<BodyShare>(budget_);
    auto beyond = std::make_unique<BodyShare>(budget_);
    BodyShare early{budget_};
    BodyShare late{budget_};
    std::optional<bool> done;
    std::optional<bool> first;
    std::optional<bool> second;
    grow(*large, 100, done);
    grow(*beyond, 20, done);
    grow(early, 90, first);
    grow(late, 1, second);  // There would be no room for it either way.

    beyond.reset();
    settle();
    EXPECT_EQ(first, true);  // Beyond the bound in its place.
    EXPECT_EQ(second, std::nullopt);

    large.reset();
    settle();
    EXPECT_EQ(second, true);
}

TEST_F(BodyBudgetTest, SaysWhenThereWasNoRoomInTime) {
    BodyShare large{budget_};
    BodyShare beyond{budget_};
    BodyShare refused{budget_};
    std::optional<bool> done;
    std::optional<bool> outcome;
    grow(large, 100, done);
    grow(beyond, 1, done);

    grow(refused, 1, outcome, milliseconds{1});
    io_.restart();
    io_.run();

    EXPECT_EQ(outcome, false);
    EXPECT_EQ(budget_.taken(), 101U);
}

TEST(BodyPaceTest, WantsAKibibyteASecondAfterTenSecondsAndAnEndAfterSixty) {
    const ServerOptions options;
    const auto start = std::chrono::steady_clock::now();
    const BodyPace pace{options, start};

    EXPECT_EQ(pace.patience(0, start), seconds{10});
    EXPECT_EQ(pace.patience(9'000, start + seconds{9}), seconds{1});
    EXPECT_EQ(pace.patience(10 * 1024, start + seconds{10}), seconds{0});
    EXPECT_EQ(pace.patience(12 * 1024, start + seconds{10}), seconds{2});
    EXPECT_EQ(pace.patience(1'000'000, start + seconds{20}), seconds{10});
    EXPECT_EQ(pace.patience(1'000'000, start + seconds{59}), seconds{1});
    EXPECT_EQ(pace.patience(1'000'000, start + seconds{61}), seconds{0});
}

TEST(BodyPaceTest, ExcusesTheTimeThatTheSenderWasKeptWaiting) {
    const ServerOptions options;
    const auto start = std::chrono::steady_clock::now();
    BodyPace pace{options, start};

    pace.excuse(seconds{25});

    EXPECT_EQ(pace.patience(0, start + seconds{30}), seconds{5});
}

}  // namespace
}  // namespace sluice::http
