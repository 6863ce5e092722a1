#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/time.hpp"
#include "store/postgres/client/server.hpp"

namespace sluice::test {

// Where tools/services has started a PostgreSQL; empty when there is none.
std::string postgres_address();

// The settings that tests use: an address, and time-outs that a busy machine keeps.
postgres::ConnectSettings test_settings(const std::string& dsn);

// The port of a postgres://user@host:port/database, and the same through another port.
std::uint16_t port_of(const std::string& dsn);
std::string with_port(const std::string& dsn, std::uint16_t port);

// A port that nobody listens on at the moment.
std::uint16_t free_port();

// Selects the windows that hold less than their chunk says; there must be none.
inline const std::string kWindowsBelowTheirBounds =
    "select f.pool_nm || ' at ' || w.wndw_strt_ts || ' holds less than its chunk says'"
    " from rl_wndw_frontier_trk f join rl_wndw_ct w on w.pool_nm = f.pool_nm"
    " and w.wndw_strt_ts >= f.req_ts and w.wndw_strt_ts < f.wndw_end_ts"
    " where w.slot_ct < f.slot_ct_min or w.slot_ct < f.full_ct and w.wndw_strt_ts < f.full_end_ts";

// Opens a connection, or throws: what a test cannot do without.
std::unique_ptr<postgres::Connection> connect(const std::string& dsn);

// A server with its schema, or throws.
std::shared_ptr<postgres::Server> open_server(const postgres::PoolSettings& settings, Log& log,
                                              postgres::PoolMetrics& metrics);

// The first column of the first row of a script; throws when it fails.
std::string ask(postgres::Connection& connection, const std::string& sql);

// What a database holds before a test.
enum class Furnished {
    Empty,
    WithSlots,  // The schema as its migrations leave it, with a clock that tests may set.
};

// Sets the server's clock in a database with slots.
void set_server_clock(postgres::Connection& connection, Instant now);

// A database of its own on the server of tools/services. An empty one is dropped afterwards, whoever is
// connected; one with slots is emptied for the next test.
class FreshDatabase {
public:
    explicit FreshDatabase(Furnished furnished = Furnished::Empty);
    ~FreshDatabase();
    FreshDatabase(const FreshDatabase&) = delete;
    FreshDatabase& operator=(const FreshDatabase&) = delete;

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const std::string& dsn() const { return dsn_; }

private:
    // Takes a database with the slot schema that no other test has at the moment; makes one if there is none.
    void reserve();

    std::string name_;
    std::string dsn_;
    std::unique_ptr<postgres::Connection> reservation_;  // Ends with its connection.
};

// A PostgreSQL server that only this test uses, so that it may be killed and started again.
class OwnServer {
public:
    // Where it runs, if not simply on this machine.
    struct Place {
        std::string prefix{};   // Before every command that starts it: see CutNetwork::at_server().
        std::string address{};  // Where it then listens.
        std::string options{};  // "-c name=value ..."
    };
    OwnServer() : OwnServer{Place{}} {}
    explicit OwnServer(Place place);
    ~OwnServer();
    OwnServer(const OwnServer&) = delete;
    OwnServer& operator=(const OwnServer&) = delete;

    // A standby of the other, which streams from it.
    enum class StandbyOf { It };
    OwnServer(const OwnServer& primary, StandbyOf tag);

    [[nodiscard]] const std::string& dsn() const { return dsn_; }
    // Through its socket in the file system, whatever becomes of the network.
    [[nodiscard]] std::string local_dsn() const;
    // With SIGKILL; the data stays.
    void kill();
    // Starts it again, on the same port and data.
    void revive();
    // Puts its data on a file system of 160 MB, and starts it again there. Gives the folder. Needs root.
    std::string move_to_small_disk();

private:
    void make_state();
    void remember_address();
    // Runs tools/services on this server, and gives what it prints.
    std::string services(const std::string& words) const;

    const Place place_;
    std::string state_;
    std::string folder_;
    std::string dsn_;
    bool on_small_disk_ = false;
};

// For tests that need a real server: each has a database of its own. Without a server they are skipped, which
// CI forbids.
class PostgresTest : public ::testing::Test {
protected:
    explicit PostgresTest(Furnished furnished = Furnished::Empty) : furnished_{furnished} {}
    void SetUp() override;

    [[nodiscard]] const std::string& dsn() const { return database_->dsn(); }
    [[nodiscard]] std::unique_ptr<postgres::Connection> connect() const { return test::connect(dsn()); }

private:
    Furnished furnished_;
    std::unique_ptr<FreshDatabase> database_;
};

}  // namespace sluice::test
