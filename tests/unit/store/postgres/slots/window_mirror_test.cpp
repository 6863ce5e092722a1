#include "store/postgres/slots/window_mirror.hpp"

#include <atomic>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/slot_words.hpp"

namespace sluice::postgres {
namespace {

using test::kNoon;
using testing::ElementsAre;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr Places kCap = 2;
const PoolName kPool = test::pool("a");
const WindowGrid kGrid{1s};
const WindowIndex kFirst = kGrid.index_of(kNoon);

// A pool with windows of a second from noon on, as its server holds it, and a mirror of it.
class Mirror : public testing::Test {
protected:
    WindowMirror::SourceOf source_of() {
        return [this](const PoolName&, Duration) -> CountSource {
            return [this](WindowRange range, const SlotTables::CountSink& sink) -> Result<void, StoreError> {
                ++reads_;
                for (const auto& [window, places] : stored_) {
                    if (range.first <= window && window <= range.last) {
                        sink(window, places);
                    }
                }
                return {};
            };
        };
    }

    WindowMirror::Claim claim(Places weight = 1) {
        const PlacedAsk ask{{kGrid, kCap}, {kNoon, weight}};
        auto claim = mirror_.claim(kPool, {&ask, 1}, {});
        return std::move(claim).value();
    }
    // Where an event would be put, in windows after noon.
    WindowIndex earliest(Places weight = 1) { return claim(weight).planned.at(0) - kFirst; }

    void store(WindowIndex offset, Places places) { stored_[kFirst + offset] = places; }
    static std::map<WindowIndex, Places> seen(WindowIndex offset, Places places) {
        return {{kFirst + offset, places}};
    }

    std::map<WindowIndex, Places> stored_;
    int reads_ = 0;
    WindowMirror mirror_{source_of()};
};

TEST_F(Mirror, LearnsWhatAWorkerSaw) {
    const auto worker = claim();

    mirror_.learn(worker, seen(0, kCap));

    EXPECT_EQ(earliest(), 1);
}

TEST_F(Mirror, KeepsNewsThatCameWhileAWorkerLooked) {
    store(0, kCap);
    const auto worker = claim();
    mirror_.learn_room(kPool, kNoon, 1);

    mirror_.learn(worker, seen(0, kCap));

    EXPECT_EQ(earliest(), 0);
}

TEST_F(Mirror, BelievesAWorkerThatLookedAfterTheNews) {
    store(0, kCap);
    EXPECT_EQ(earliest(), 1);
    mirror_.learn_room(kPool, kNoon, 1);
    const auto worker = claim();

    mirror_.learn(worker, seen(0, kCap));

    EXPECT_EQ(earliest(), 1);
}

TEST_F(Mirror, LearnsNothingForAViewThatIsNewerThanTheWorkersLook) {
    store(0, kCap);
    const auto worker = claim();
    mirror_.forget(kPool);
    store(0, 0);
    EXPECT_EQ(earliest(), 0);

    mirror_.learn(worker, seen(0, kCap));

    EXPECT_EQ(earliest(), 0);
}

TEST_F(Mirror, AClaimOfAnOlderViewGivesUpNothingOfANewerOne) {
    auto old = std::make_unique<WindowMirror::Claim>(claim());
    mirror_.forget_all();
    const auto other = claim();
    EXPECT_THAT(other.planned, ElementsAre(kFirst));

    old.reset();

    EXPECT_EQ(earliest(), 1) << "the first is still claimed";
}

TEST_F(Mirror, ReadsAgainWhatNobodyToldOnceItIsQuiet) {
    store(0, kCap);
    store(1, kCap);
    EXPECT_EQ(earliest(), 2);
    store(1, 1);
    mirror_.read_again(steady_clock::now() - 1h);
    EXPECT_EQ(earliest(), 2) << "somebody asked since";

    mirror_.read_again(steady_clock::now());

    EXPECT_EQ(earliest(), 1);
}

TEST_F(Mirror, ReadsAgainOnceForEachQuietTime) {
    (void)earliest();
    mirror_.read_again(steady_clock::now());
    const int before = reads_;

    mirror_.read_again(steady_clock::now());
    EXPECT_EQ(reads_, before);
    mirror_.learn_room(kPool, kNoon, 0);
    mirror_.read_again(steady_clock::now());
    EXPECT_EQ(reads_, before + 1);
}

TEST_F(Mirror, DropsWhatItReadWhenNewsCameMeanwhile) {
    store(0, kCap);
    WindowMirror* mirror = nullptr;
    bool told = false;
    WindowMirror own{[&](const PoolName& name, Duration size) -> CountSource {
        return [&, inner = source_of()(name, size)](WindowRange range, const SlotTables::CountSink& sink) {
            auto read = inner(range, sink);
            if (mirror != nullptr && !std::exchange(told, true)) {
                mirror->learn_room(name, kNoon, 1);
            }
            return read;
        };
    }};
    const PlacedAsk ask{{kGrid, kCap}, {kNoon, 1}};
    EXPECT_EQ(own.claim(kPool, {&ask, 1}, {}).value().planned.at(0), kFirst + 1);
    mirror = &own;

    own.read_again(steady_clock::now());

    EXPECT_EQ(own.claim(kPool, {&ask, 1}, {}).value().planned.at(0), kFirst);
}

// A server may take two seconds for a million windows of one pool.
TEST_F(Mirror, WhileOnePoolIsReadOnlyThoseWhoPlanInItWait) {
    const PoolName slow_pool = test::pool("slow");
    std::promise<void> reading;
    std::promise<void> answer;
    std::atomic<bool> is_slow = false;
    WindowMirror own{[&](const PoolName& name, Duration size) -> CountSource {
        return
            [&, name, inner = source_of()(name, size)](WindowRange range, const SlotTables::CountSink& sink) {
                if (name == slow_pool && is_slow.exchange(false)) {
                    reading.set_value();
                    answer.get_future().wait();
                }
                return inner(range, sink);
            };
    }};
    const PlacedAsk near{{kGrid, kCap}, {kNoon, 1}};
    const PlacedAsk far{{kGrid, kCap}, {kNoon + 24h, 1}};
    auto worker = std::make_unique<WindowMirror::Claim>(own.claim(slow_pool, {&near, 1}, {}).value());
    is_slow = true;
    auto slow = std::async(std::launch::async, [&] {
        return own.claim(slow_pool, {&far, 1}, {}).has_value();
    });
    reading.get_future().wait();

    auto others = std::async(std::launch::async, [&] {
        own.learn_room(slow_pool, kNoon + 5s, 0);
        own.learn(*worker, seen(0, kCap));
        worker.reset();
        return own.claim(kPool, {&near, 1}, {}).value().planned.at(0);
    });

    EXPECT_EQ(others.wait_for(5s), std::future_status::ready);
    answer.set_value();
    EXPECT_EQ(others.get(), kFirst);
    EXPECT_TRUE(slow.get());
    EXPECT_EQ(own.claim(slow_pool, {&near, 1}, {}).value().planned.at(0), kFirst + 1)
        << "what was told counts";
}

TEST_F(Mirror, ForgetsAPoolThatMuchIsToldOfAndNobodyAsksFor) {
    (void)earliest();
    store(0, kCap);
    const int before = reads_;

    for (int i = 0; i < 200'000; ++i) {
        mirror_.learn_room(kPool, kNoon + 1s, 0);
    }

    EXPECT_EQ(earliest(), 1);
    EXPECT_GT(reads_, before);
}

TEST_F(Mirror, ReadsAgainWhatIsDoubted) {
    const auto worker = claim();
    for (WindowIndex i = 0; i < 5000; ++i) {
        store(i, kCap);
    }

    mirror_.doubt(worker);

    EXPECT_EQ(earliest(), 5000);
    const int before = reads_;
    mirror_.doubt(worker);
    EXPECT_EQ(earliest(), 5000);
    EXPECT_EQ(reads_, before) << "what was read since is newer than the doubt";
}

}  // namespace
}  // namespace sluice::postgres
