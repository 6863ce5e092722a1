// Daemons send works to a receiver that notes by its own clock what arrives: one on a folder of its own, and
// two on one PostgreSQL. They are killed, frozen and started again meanwhile. SLUICE_DISPATCH_EVENTS and
// SLUICE_DISPATCH_BLOWS make the tests longer (tools/torture dispatch).
#include <cstdlib>
#include <map>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "support/dispatch_site.hpp"

namespace sluice::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr std::size_t kRate = 50;
// Whoever was killed leaves claims behind, which keep their permits until their time-out and five seconds are
// over; on PostgreSQL its lease ends before that.
constexpr int kRest = 8;

std::size_t number_from(const char* variable, std::size_t usual) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? usual : std::stoul(text);
}

std::size_t events() { return number_from("SLUICE_DISPATCH_EVENTS", 600); }

seconds patience(std::size_t count, std::size_t blows = 0) {
    return seconds{60 + static_cast<int>(count / kRate) + kRest * static_cast<int>(blows)};
}

class Dispatch : public testing::TestWithParam<Kept> {
protected:
    void SetUp() override {
        if (GetParam() == Kept::OnPostgres && postgres_address().empty()) {
            GTEST_SKIP() << "there is no PostgreSQL; tools/services starts one";
        }
        site_ = std::make_unique<DispatchSite>(GetParam());
    }

    DispatchSite& site() { return *site_; }
    std::size_t any_node() { return random_() % site_->size(); }
    std::size_t below(std::size_t bound) { return random_() % bound; }
    // A moment in which calls are under way.
    void wait_for_some_more(const WebhookReceiver& receiver, std::size_t count) {
        const std::size_t seen = receiver.arrivals().size();
        ASSERT_TRUE(receiver.wait_for(std::min(seen + 1 + below(40), count), seconds{60}));
    }

private:
    std::unique_ptr<DispatchSite> site_;
    std::mt19937 random_{std::random_device{}()};
};

TEST_P(Dispatch, UsesAllOfItsRateAndNoSlidingSecondSeesMore) {
    const WebhookReceiver receiver;
    site().set_config(R"(,"maxPerSecond":50)");

    site().hand_over(0, events(), receiver.url("/pay"));

    ASSERT_TRUE(receiver.wait_for(events(), patience(events())));
    const auto arrivals = receiver.arrivals();
    EXPECT_EQ(arrivals.size(), events());
    expect_whole(arrivals, events());
    EXPECT_LE(most_in_a_second(arrivals), kRate);
    const std::chrono::duration<double> took = arrivals.back().at - arrivals.front().at;
    const double rate = static_cast<double>(events() - 1) / took.count();
    RecordProperty("rate", std::to_string(rate));
    EXPECT_GE(rate, 0.97 * kRate);
}

TEST_P(Dispatch, HoldsItsRateAndLosesNothingAcrossKills) {
    const std::size_t blows = number_from("SLUICE_DISPATCH_BLOWS", 4);
    const std::size_t count = events() / 2;
    const WebhookReceiver receiver{[](const Arrival&) { return ReceiverAnswer{.delay = milliseconds{20}}; }};
    site().set_config(R"(,"maxPerSecond":50)");

    site().hand_over(0, count, receiver.url("/pay"));
    for (std::size_t blow = 0; blow < blows; ++blow) {
        wait_for_some_more(receiver, count);
        const std::size_t node = any_node();
        site().kill(node);
        site().start(node);
    }

    ASSERT_TRUE(wait_for_all(receiver, count, patience(count, blows)));
    const auto arrivals = receiver.arrivals();
    expect_whole(arrivals, count);
    EXPECT_LE(most_in_a_second(arrivals), kRate);
    // What arrived twice says so in its audit.
    std::map<std::string, int> times;
    for (const Arrival& arrival : arrivals) {
        ++times[arrival.event()];
    }
    for (const auto& [id, arrived] : times) {
        if (arrived > 1) {
            const std::string story = site().story(id);
            EXPECT_NE(story.find(R"("action":"lost")"), std::string::npos) << story;
        }
    }
}

TEST_P(Dispatch, DoesNotCatchUpInABurstAfterItWasFrozen) {
    const std::size_t blows = number_from("SLUICE_DISPATCH_BLOWS", 6);
    const std::size_t count = events() / 2;
    const WebhookReceiver receiver;
    site().set_config(R"(,"maxPerSecond":50)");

    site().hand_over(0, count, receiver.url("/pay"));
    for (std::size_t blow = 0; blow < blows; ++blow) {
        wait_for_some_more(receiver, count);
        const std::size_t node = any_node();
        site().freeze(node);
        std::this_thread::sleep_for(milliseconds{100 + below(2900)});  // How long it is frozen.
        site().thaw(node);
    }

    ASSERT_TRUE(wait_for_all(receiver, count, patience(count, blows)));
    expect_whole(receiver.arrivals(), count);
    EXPECT_LE(most_in_a_second(receiver.arrivals()), kRate);
}

TEST_P(Dispatch, OneEndpointThatHangsCostsTheOthersNothing) {
    constexpr std::size_t kEndpoints = 10;
    constexpr std::size_t kEach = 200;
    const WebhookReceiver receiver{[](const Arrival& arrival) {
        return ReceiverAnswer{.delay = milliseconds{1}, .silent = arrival.path == "/0"};
    }};
    site().set_config("");

    for (std::size_t i = 0; i < kEndpoints; ++i) {
        site().hand_over(i * kEach, kEach, receiver.url("/" + std::to_string(i)));
    }

    // The calls that hang end after a second each: whoever waited for them would take far longer than this.
    const auto of_the_others = [&receiver] {
        std::size_t sum = 0;
        for (const Arrival& arrival : receiver.arrivals()) {
            sum += arrival.path != "/0" ? 1 : 0;
        }
        return sum;
    };
    const auto deadline = steady_clock::now() + seconds{5};
    while (of_the_others() < (kEndpoints - 1) * kEach && steady_clock::now() < deadline) {
        std::this_thread::sleep_for(milliseconds{10});
    }
    EXPECT_EQ(of_the_others(), (kEndpoints - 1) * kEach);
}

TEST_P(Dispatch, SendsWhatWasDueWhileAllServersWereAway) {
    const WebhookReceiver receiver;
    site().set_config(R"(,"maxPerSecond":50)");
    site().hand_over(0, 60, receiver.url("/pay"));
    ASSERT_TRUE(receiver.wait_for(10, seconds{20}));

    for (std::size_t node = 0; node < site().size(); ++node) {
        site().stop(node);
    }
    const std::size_t before = receiver.arrivals().size();
    for (std::size_t node = 0; node < site().size(); ++node) {
        site().start(node);
    }

    ASSERT_TRUE(wait_for_all(receiver, 60, seconds{20}));
    EXPECT_LT(before, 60U);
    // A stop in order leaves nothing in doubt: nothing is sent twice.
    EXPECT_EQ(receiver.arrivals().size(), 60U);
    EXPECT_LE(most_in_a_second(receiver.arrivals()), kRate);
}

INSTANTIATE_TEST_SUITE_P(Stores, Dispatch, testing::Values(Kept::Embedded, Kept::OnPostgres),
                         [](const auto& kept) {
                             return kept.param == Kept::Embedded ? "Embedded" : "OnPostgres";
                         });

}  // namespace
}  // namespace sluice::test
