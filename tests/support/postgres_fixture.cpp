#include "support/postgres_fixture.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <unistd.h>

#include "store/postgres/slot_schema.hpp"

namespace sluice::test {
namespace {

using postgres::Connection;
using postgres::ConnectSettings;

[[noreturn]] void fail(const std::string& what, const postgres::Failure& failure) {
    throw std::runtime_error{what + ": " + failure.sqlstate + " " + failure.message};
}

// postgres://user@host:port/database with another database.
std::string with_database(const std::string& dsn, const std::string& database) {
    return dsn.substr(0, dsn.rfind('/') + 1) + database;
}

// Runs tools/services on the servers that `state` remembers, and returns what it prints.
std::string services(const std::string& state, const std::string& words) {
    const std::string command = "SLUICE_SERVICES='" + state + "' '" + SLUICE_SERVICES_TOOL + "' " + words;
    FILE* output = ::popen(command.c_str(), "r");  // NOLINT(cert-env33-c): the project's own script.
    if (output == nullptr) {
        throw std::runtime_error{"cannot run " + command};
    }
    std::string text;
    std::array<char, 256> part{};
    while (::fgets(part.data(), static_cast<int>(part.size()), output) != nullptr) {
        text += part.data();
    }
    if (::pclose(output) != 0) {
        throw std::runtime_error{"failed: " + command};
    }
    return text;
}

// A clock that tests may set: the server's own while the sequence stands at its beginning. A
// sequence, because what is set counts at once, inside of transactions too.
const std::string kTestClock =
    "create sequence sluice.test_clock;"
    " create or replace function sluice.limit_clock() returns bigint language sql volatile"
    " return (select case when last_value = 1 then (extract(epoch from clock_timestamp()) * 1000000)::bigint"
    " else last_value end from sluice.test_clock)";

// A database with the slot schema that others are copied from. The first test on a server makes it; every
// test is a process of its own, so the others wait for it by a lock. Its name tells the text of the
// migrations: a server may outlive a version of them.
std::string template_with_slots() {
    std::string text = kTestClock;
    for (const postgres::Migration& migration : postgres::slot_migrations()) {
        text += migration.sql;
    }
    text += postgres::slot_functions();
    std::string name = "sluice_template_" + std::to_string(std::hash<std::string>{}(text));
    const auto connection = connect(postgres_address());
    ask(*connection, "select pg_advisory_lock(7309, 1)");
    if (ask(*connection, "select 1 from pg_database where datistemplate and datname = '" + name + "'")
            .empty()) {
        ask(*connection, "drop database if exists " + name);
        ask(*connection, "create database " + name + " template template0");
        const auto inside = connect(with_database(postgres_address(), name));
        if (const auto migrated = postgres::migrate_slots(*inside); !migrated) {
            throw std::runtime_error{migrated.error().message};
        }
        ask(*inside, kTestClock);
        ask(*connection, "alter database " + name + " is_template true");
    }
    return name;  // The lock goes with the connection.
}

// Empties a database with the slot schema. Tells whether it holds that schema and nothing else.
const std::string kEmptySlots =
    "truncate rl_event_wndw_config, rl_wndw_ct, rl_event_slot_dtl, rl_wndw_frontier_trk, sluice.pool,"
    " sluice.slot_past, sluice.limit_state, sluice.plan;"
    " alter sequence sluice.config_number restart; alter sequence sluice.slot_number restart;"
    " alter sequence sluice.test_clock restart;"
    " select count(*) = 4 from pg_class c join pg_namespace n on n.oid = c.relnamespace"
    " where c.relkind = 'r' and n.nspname <> 'sluice' and n.nspname not like 'pg\\_%'"
    " and n.nspname <> 'information_schema'";

}  // namespace

std::string postgres_address() {
    const char* address = std::getenv("SLUICE_TEST_POSTGRES");
    return address == nullptr ? "" : address;
}

std::uint16_t port_of(const std::string& dsn) {
    return static_cast<std::uint16_t>(std::stoi(dsn.substr(dsn.rfind(':') + 1)));
}

std::string with_port(const std::string& dsn, std::uint16_t port) {
    return dsn.substr(0, dsn.rfind(':') + 1) + std::to_string(port) + dsn.substr(dsn.rfind('/'));
}

ConnectSettings test_settings(const std::string& dsn) {
    ConnectSettings settings;
    settings.dsn = dsn;
    settings.statement_timeout = std::chrono::seconds{30};
    settings.lock_timeout = std::chrono::seconds{20};
    settings.idle_in_transaction_timeout = std::chrono::seconds{60};
    return settings;
}

std::unique_ptr<Connection> connect(const std::string& dsn) {
    auto opened = Connection::open(test_settings(dsn));
    if (!opened) {
        fail("cannot connect", opened.error());
    }
    return std::move(*opened);
}

std::string ask(Connection& connection, const std::string& sql) {
    const auto rows = connection.run_script(sql);
    if (!rows) {
        fail(sql, rows.error());
    }
    return rows->empty() ? "" : std::string{rows->text(0, 0)};
}

void set_server_clock(Connection& connection, Instant now) {
    ask(connection,
        "select setval('sluice.test_clock', " + std::to_string(now.time_since_epoch().count() * 1000) + ")");
}

FreshDatabase::FreshDatabase(Furnished furnished) {
    if (furnished == Furnished::WithSlots) {
        reserve();
        return;
    }
    static std::atomic<int> made{0};
    name_ = "sluice_test_" + std::to_string(::getpid()) + "_" + std::to_string(++made);
    dsn_ = with_database(postgres_address(), name_);
    ask(*connect(postgres_address()), "create database " + name_ + " template template0");
}

void FreshDatabase::reserve() {
    const std::string from = template_with_slots();
    reservation_ = connect(postgres_address());
    int number = 1;
    while (ask(*reservation_, "select pg_try_advisory_lock(7310, " + std::to_string(number) + ")") != "t") {
        ++number;
    }
    name_ = from + "_" + std::to_string(number);
    dsn_ = with_database(postgres_address(), name_);
    const std::string named = "'" + name_ + "'";
    const bool exists = !ask(*reservation_, "select 1 from pg_database where datname = " + named).empty();
    if (exists) {  // Whoever used it is gone, or on the way.
        ask(*reservation_, "select pg_terminate_backend(pid) from pg_stat_activity where datname = " + named);
    }
    if (!exists || ask(*connect(dsn_), kEmptySlots) != "t") {
        ask(*reservation_, "drop database if exists " + name_ + " with (force)");
        ask(*reservation_, "create database " + name_ + " template " + from);
    }
}

FreshDatabase::~FreshDatabase() {
    if (reservation_) {
        return;  // The next test finds it warm: that is much of what a new one costs.
    }
    // A database that stays behind goes with the server.
    if (auto opened = Connection::open(test_settings(postgres_address()))) {
        (void)(*opened)->run_script("drop database if exists " + name_ + " with (force)");
    }
}

OwnServer::OwnServer() {
    std::string state = (std::filesystem::temp_directory_path() / "sluice-own-server-XXXXXX").string();
    if (::mkdtemp(state.data()) == nullptr) {
        throw std::runtime_error{"cannot make a folder for a server"};
    }
    state_ = state;
    services(state_, "up postgres");
    const auto line = services(state_, "env postgres");
    dsn_ = line.substr(line.find('=') + 1);
    dsn_.erase(dsn_.find_last_not_of('\n') + 1);
}

OwnServer::~OwnServer() {
    try {
        services(state_, "down postgres");
    } catch (const std::exception& problem) {
        ADD_FAILURE() << problem.what();
    }
    std::error_code ignored;
    std::filesystem::remove_all(state_, ignored);
}

void OwnServer::kill() { services(state_, "kill postgres"); }

void OwnServer::revive() { services(state_, "revive postgres"); }

void PostgresTest::SetUp() {
    if (!postgres_address().empty()) {
        database_ = std::make_unique<FreshDatabase>(furnished_);
        return;
    }
    const char* continuous = std::getenv("CI");
    if (continuous != nullptr && std::string{continuous} == "true") {
        FAIL() << "SLUICE_TEST_POSTGRES is not set; tools/test sets it";
    }
    GTEST_SKIP() << "SLUICE_TEST_POSTGRES is not set; tools/services starts a server";
}

}  // namespace sluice::test
