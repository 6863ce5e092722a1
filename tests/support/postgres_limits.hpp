#pragma once

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "store/postgres/limits/postgres_limit_store.hpp"
#include "support/postgres_fixture.hpp"
#include "support/recording_log.hpp"

namespace sluice::test {

// How many sessions of a database wait for a lock.
inline constexpr const char* kWaiting =
    "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

// Waits until a query says that; fails the test after 20 seconds.
inline void await(postgres::Connection& session, const std::string& sql, const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (ask(session, sql) != text) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline) << sql;
        std::this_thread::yield();
    }
}

class SilentPool final : public postgres::PoolMetrics {
public:
    void waited(std::chrono::nanoseconds) override {}
};

// A store of limits with its surroundings, on a database that somebody else keeps. It waits for a key as long
// as a busy machine may need, unless told otherwise.
class PostgresLimitsOn {
public:
    explicit PostgresLimitsOn(const std::string& dsn, PostgresLimitOptions options = patient()) {
        auto opened =
            open_postgres_limit_store(open_server({test_settings(dsn), 1, 8}, log_, metrics_), options, log_);
        if (!opened) {
            throw std::runtime_error{opened.error()};
        }
        store_ = std::move(*opened);
    }

    static PostgresLimitOptions patient() {
        PostgresLimitOptions options;
        options.key_wait = std::chrono::seconds{60};
        options.connection_wait = std::chrono::seconds{100};
        return options;
    }

    PostgresLimitStore* operator->() { return store_.get(); }
    PostgresLimitStore& operator*() { return *store_; }

private:
    RecordingLog log_;
    SilentPool metrics_;
    std::unique_ptr<PostgresLimitStore> store_;
};

// Sets the clock that the limits of a database go by.
inline void set_limit_clock(postgres::Connection& connection, Moment now) {
    ask(connection, "select setval('sluice.test_clock', " + std::to_string(microseconds_of(now)) + ")");
}

}  // namespace sluice::test
