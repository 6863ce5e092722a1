#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "store/postgres/gateway/postgres_gateway_store.hpp"
#include "support/hand_clock.hpp"
#include "support/postgres_limits.hpp"
#include "support/slot_words.hpp"

namespace sluice::test {

// A gateway's store with its surroundings, on a database that somebody else keeps. It waits for a row as long
// as a busy machine may need, unless told otherwise.
class PostgresGatewayOn {
public:
    explicit PostgresGatewayOn(const std::string& dsn, PostgresGatewayOptions options = patient())
        : PostgresGatewayOn{test_settings(dsn), options} {}
    PostgresGatewayOn(const postgres::ConnectSettings& settings, PostgresGatewayOptions options) {
        auto opened = open_postgres_gateway_store(open_server({settings, 1, 8}, log_, metrics_), options,
                                                  {clock_, log_});
        if (!opened) {
            throw std::runtime_error{opened.error()};
        }
        store_ = std::move(*opened);
    }

    static PostgresGatewayOptions patient() {
        PostgresGatewayOptions options;
        options.row_wait = std::chrono::seconds{20};
        return options;
    }
    // One that finds a held row soon.
    static PostgresGatewayOptions hasty() {
        PostgresGatewayOptions options;
        options.row_wait = std::chrono::milliseconds{50};
        return options;
    }

    GatewayStore* operator->() { return store_.get(); }
    GatewayStore& operator*() { return *store_; }

    // Lets the store ask the server's clock again, which a test has set.
    void tell_of_clock(Instant now) { clock_.set(now); }

private:
    HandClock clock_{kNoon};
    RecordingLog log_;
    SilentPool metrics_;
    std::unique_ptr<GatewayStore> store_;
};

}  // namespace sluice::test
