// Slots and limits on one server share its connections.
#include <atomic>
#include <future>
#include <thread>

#include <gmock/gmock.h>

#include "store/postgres/client/connection_share.hpp"
#include "store/postgres/limits/postgres_limit_store.hpp"
#include "store/postgres/slots/postgres_slot_store.hpp"
#include "support/counting_metrics.hpp"
#include "support/hand_clock.hpp"
#include "support/limit_words.hpp"
#include "support/postgres_fixture.hpp"
#include "support/postgres_limits.hpp"
#include "support/recording_log.hpp"
#include "support/slot_words.hpp"

namespace sluice::test {
namespace {

using postgres::ConnectionPool;
using postgres::ConnectionShare;
using postgres::ConnectionSource;
using postgres::Lease;

ConnectionPool::Clock::time_point in(std::chrono::milliseconds time) {
    return ConnectionPool::Clock::now() + time;
}

// Takes so many, which must be all that it may have.
std::vector<Lease> take_all(ConnectionSource& source, std::size_t most) {
    std::vector<Lease> taken;
    while (taken.size() < most) {
        auto lease = source.take(in(20s));
        if (!lease) {
            ADD_FAILURE() << taken.size() << " of " << most << ": " << lease.error().message;
            return taken;
        }
        taken.push_back(std::move(*lease));
    }
    EXPECT_FALSE(source.take(in(300ms))) << "it may have more than " << most;
    return taken;
}

class PostgresShares : public PostgresTest {
protected:
    explicit PostgresShares(Furnished furnished = Furnished::WithSlots) : PostgresTest{furnished} {}

    [[nodiscard]] postgres::PoolSettings bounds(std::size_t min, std::size_t max) const {
        return {test_settings(dsn()), min, max};
    }

    RecordingLog log_;
    SilentPool waits_;
};

TEST_F(PostgresShares, LeaveEachOtherAPartAndTheRestToWhoeverComes) {
    ConnectionPool pool{bounds(0, 8), log_, waits_};
    ConnectionShare one{pool, {}};
    ConnectionShare other{pool, {}};

    const auto ones = take_all(one, 6);  // A quarter is the other's.
    const auto others = take_all(other, 2);

    EXPECT_EQ(pool.figures().in_use, 8U);
}

TEST_F(PostgresShares, LeaveEachOtherWhatTheyNeedAtLeast) {
    ConnectionPool pool{bounds(0, 6), log_, waits_};
    ConnectionShare large{pool, {.least = 5}};
    ConnectionShare small{pool, {}};

    const auto smalls = take_all(small, 1);
    const auto larges = take_all(large, 5);

    EXPECT_EQ(pool.figures().in_use, 6U);
}

TEST_F(PostgresShares, OfAPoolThatIsTooSmallForThemGoToWhoeverComes) {
    ConnectionPool pool{bounds(0, 2), log_, waits_};
    ConnectionShare large{pool, {.least = 5}};
    ConnectionShare small{pool, {}};

    EXPECT_EQ(take_all(large, 2).size(), 2U);
    EXPECT_EQ(take_all(small, 2).size(), 2U);
}

TEST_F(PostgresShares, HaveItAllOnceTheOthersAreGone) {
    ConnectionPool pool{bounds(0, 4), log_, waits_};
    ConnectionShare one{pool, {}};
    auto other = std::make_unique<ConnectionShare>(pool, postgres::ShareWishes{});
    const auto taken = take_all(one, 3);
    auto waiting = std::async(std::launch::async, [&] { return one.take(in(20s)).has_value(); });
    while (pool.figures().waiting == 0) {
        std::this_thread::yield();
    }

    other.reset();

    EXPECT_TRUE(waiting.get());
}

// Whoever waits for what is kept for others must not make the pool open more and more.
TEST_F(PostgresShares, OpenNothingForThoseWhoMayNotHaveIt) {
    ConnectionPool pool{bounds(0, 4), log_, waits_};
    ConnectionShare one{pool, {}};
    const ConnectionShare other{pool, {}};

    const auto taken = take_all(one, 3);

    EXPECT_EQ(pool.figures().idle, 0U);
}

// Also when a connection goes from one to the other.
TEST_F(PostgresShares, WaitForLocksAsLongAsEachWants) {
    ConnectionPool pool{bounds(0, 1), log_, waits_};
    ConnectionShare patient{pool, {.least = 1}};
    ConnectionShare hasty{pool, {.least = 1, .lock_timeout = 70ms}};
    const auto timeout = [](ConnectionSource& source) {
        const auto lease = source.take(in(20s));
        return lease ? ask(**lease, "show lock_timeout") + " of " + ask(**lease, "select pg_backend_pid()")
                     : lease.error().message;
    };

    const std::string pid = ask(**pool.take(in(20s)), "select pg_backend_pid()");

    for (int turn = 0; turn < 2; ++turn) {
        EXPECT_EQ(timeout(patient), "20s of " + pid);
        EXPECT_EQ(timeout(hasty), "70ms of " + pid);
        EXPECT_EQ(timeout(pool), "20s of " + pid);
    }
}

TEST_F(PostgresShares, GetTheConnectionThatIsSetUpForThem) {
    ConnectionPool pool{bounds(2, 2), log_, waits_};
    ConnectionShare patient{pool, {}};
    ConnectionShare hasty{pool, {.lock_timeout = 70ms}};
    const auto pid = [](ConnectionSource& source) {
        const auto lease = source.take(in(20s));
        return lease ? ask(**lease, "select pg_backend_pid()") : lease.error().message;
    };
    while (pool.figures().idle < 2) {
        std::this_thread::yield();
    }
    const std::string hasty_one = pid(hasty);
    const std::string patient_one = pid(patient);
    ASSERT_NE(hasty_one, patient_one);

    for (int turn = 0; turn < 5; ++turn) {
        EXPECT_EQ(pid(hasty), hasty_one);
        EXPECT_EQ(pid(hasty), hasty_one);
        EXPECT_EQ(pid(patient), patient_one);
    }
}

// Both stores on one server.
class PostgresTogether : public PostgresShares {
protected:
    using PostgresShares::PostgresShares;
    void open(std::size_t max) {
        server_ = open_server(bounds(1, max), log_, waits_);
        open_stores();
    }
    void open_stores() {
        slots_ = open_postgres_slot_store(server_, {}, {clock_, metrics_, log_}).value();
        limits_ = open_postgres_limit_store(server_, {}, log_).value();
    }
    void TearDown() override {
        limits_.reset();
        slots_.reset();
        server_.reset();
        PostgresShares::TearDown();
    }
    [[nodiscard]] CheckOutcome check(const std::string& key) {
        const Plan* const one = &plan_;
        const Check check{key, {&one, 1}, 1};
        CheckOutcome outcome = Verdict{};
        limits_->take({&check, 1}, {&outcome, 1});
        return outcome;
    }

    const Plan plan_ = plan("gold", bucket(1'000'000, 1, 1s));
    HandClock clock_{kNoon - 1h};
    CountingMetrics metrics_;
    std::shared_ptr<postgres::Server> server_;
    std::unique_ptr<PostgresSlotStore> slots_;
    std::unique_ptr<PostgresLimitStore> limits_;
};

TEST_F(PostgresTogether, LimitsAreDecidedWhileSlotsHoldAllTheyMay) {
    server_ = open_server(bounds(1, 8), log_, waits_);
    limits_ = open_postgres_limit_store(server_, {}, log_).value();  // Waits for a second at most.
    ConnectionShare slots{server_->pool(), {.least = 5}};
    const auto held = take_all(slots, 6);

    for (int i = 0; i < 20; ++i) {
        const auto outcome = check("key" + std::to_string(i));
        ASSERT_TRUE(outcome && outcome->allowed);
    }
}

TEST_F(PostgresTogether, SlotsAreAssignedWhileLimitsHoldAllTheyMay) {
    server_ = open_server(bounds(1, 8), log_, waits_);
    slots_ = open_postgres_slot_store(server_, {}, {clock_, metrics_, log_}).value();
    ASSERT_TRUE(slots_->put_config(draft("a", 5, 1s)));
    ConnectionShare limits{server_->pool(), {.lock_timeout = 70ms}};
    const auto held = take_all(limits, 3);

    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(run_one(*slots_, assign("e" + std::to_string(i), "a", SlotAsk{kNoon})));
    }
}

// In a database that no other test gets.
class PostgresTogetherAtFirst : public PostgresTogether {
protected:
    PostgresTogetherAtFirst() : PostgresTogether{Furnished::Empty} {}
};

TEST_F(PostgresTogetherAtFirst, SeeToTheSchemaOnce) {
    server_ = open_server(bounds(1, 8), log_, waits_);
    ask(*connect(), "delete from sluice.schema_code");

    open_stores();

    EXPECT_EQ(ask(*connect(), "select count(*) from sluice.schema_code"), "0") << "it was seen to again";
    server_ = open_server(bounds(1, 8), log_, waits_);
    EXPECT_EQ(ask(*connect(), "select count(*) from sluice.schema_code"), "1");
}

// One more listens.
TEST_F(PostgresTogether, NeverHaveMoreSessionsThanTheMaximum) {
    constexpr int kMax = 6;
    open(kMax);
    ASSERT_TRUE(slots_->put_config(draft("a", 5, 1s)));
    std::atomic<bool> over = false;
    std::atomic<int> done = 0;
    std::atomic<int> failed = 0;
    const auto work = [&](int thread) {
        for (int i = 0; i < 40; ++i) {
            const std::string id = std::to_string(thread) + "-" + std::to_string(i);
            const bool well = thread % 2 == 0
                                  ? run_one(*slots_, assign("e" + id, "a", SlotAsk{kNoon})).has_value()
                                  : check("key" + id).has_value();
            failed += well ? 0 : 1;
        }
        over = ++done == 12;
    };
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 12; ++thread) {
        threads.emplace_back(work, thread);
    }
    const auto session = connect();
    int most = 0;

    while (!over) {
        most = std::max(most, std::stoi(ask(*session,
                                            "select count(*) from pg_stat_activity where datname = "
                                            "current_database() and application_name = 'sluice' and "
                                            "pid <> pg_backend_pid()")));
    }

    EXPECT_LE(most, kMax + 1);
    EXPECT_GE(most, 3) << "hardly anything went on at once";
    EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace sluice::test
