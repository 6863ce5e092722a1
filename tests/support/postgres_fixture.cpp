#include "support/postgres_fixture.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/postgres/client/schema.hpp"
#include "support/cut_network.hpp"

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
    " sluice.slot_past, sluice.limit_state, sluice.plan, sluice.admin_plan, sluice.work,"
    " sluice.work_order, sluice.dispatch_audit, sluice.work_sent, sluice.dispatch_hold, sluice.dispatch_rate,"
    " sluice.dispatch_terms, sluice.dispatch_keeper, sluice.dispatch_permit, \"PostgresEntity\","
    " sluice.gateway_message, sluice.gateway_request, sluice.gateway_outbox;"
    " alter sequence sluice.config_number restart; alter sequence sluice.slot_number restart;"
    " alter sequence sluice.test_clock restart;"
    " select count(*) = 5 from pg_class c join pg_namespace n on n.oid = c.relnamespace"
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

std::uint16_t free_port() {
    const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const bool found = ::bind(file, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                       ::getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    ::close(file);
    if (!found) {
        throw std::runtime_error{"no port is free"};
    }
    return ntohs(address.sin_port);
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

std::shared_ptr<postgres::Server> open_server(const postgres::PoolSettings& settings, Log& log,
                                              postgres::PoolMetrics& metrics) {
    static const auto kRuntime = make_machine_runtime();
    auto opened = postgres::Server::open(settings, postgres::SchemaCare::Migrate, {log, metrics, *kRuntime});
    return opened ? std::move(*opened) : throw std::runtime_error{opened.error()};
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

OwnServer::OwnServer(Place place) : place_{std::move(place)} {
    make_state();
    services("up postgres");
    remember_address();
    if (!place_.address.empty()) {
        shell("echo 'host all all all trust' >>" + folder_ + "/data/pg_hba.conf");
        ask(*connect(local_dsn()), "select pg_reload_conf()");
    }
}

OwnServer::OwnServer(const OwnServer& primary, StandbyOf /*tag*/) : place_{primary.place_} {
    make_state();
    const auto port = std::to_string(free_port());
    folder_ = shell("mktemp -d /tmp/sluice-postgres.XXXXXX");
    folder_.pop_back();
    shell("echo '" + folder_ + " " + port + "' >" + state_ + "/postgres; chown postgres: " + folder_);
    shell("cd " + folder_ + " && setpriv --reuid=postgres --regid=postgres --init-groups" +
          " /usr/lib/postgresql/15/bin/pg_basebackup -h " + primary.folder_ + " -p " +
          std::to_string(port_of(primary.dsn_)) + " -U postgres -D data -R -X stream -c fast --no-sync");
    services("revive postgres");
    remember_address();
}

void OwnServer::make_state() {
    std::string state = (std::filesystem::temp_directory_path() / "sluice-own-server-XXXXXX").string();
    if (::mkdtemp(state.data()) == nullptr) {
        throw std::runtime_error{"cannot make a folder for a server"};
    }
    state_ = state;
}

void OwnServer::remember_address() {
    dsn_ = services("env postgres");
    dsn_ = dsn_.substr(dsn_.find('=') + 1);
    dsn_.erase(dsn_.find_last_not_of('\n') + 1);
    folder_ = shell("cut -d' ' -f1 " + state_ + "/postgres");
    folder_.pop_back();
    if (!place_.address.empty()) {
        dsn_ = "postgres://postgres@" + place_.address + ":" + std::to_string(port_of(dsn_)) + "/postgres";
    }
}

std::string OwnServer::services(const std::string& words) const {
    const std::string options = place_.address.empty() ? "" : " -c listen_addresses=0.0.0.0";
    return shell("SLUICE_SERVICES='" + state_ + "' SLUICE_SERVICES_POSTGRES='" + place_.options + options +
                 "' " + place_.prefix + "'" + SLUICE_SERVICES_TOOL + "' " + words);
}

std::string OwnServer::local_dsn() const {
    return "postgres://postgres@/postgres?host=" + folder_ + "&port=" + std::to_string(port_of(dsn_));
}

OwnServer::~OwnServer() {
    try {
        if (on_small_disk_) {
            kill();
            shell("umount " + folder_ + "/data");
        }
        services("down postgres");
    } catch (const std::exception& problem) {
        ADD_FAILURE() << problem.what();
    }
    std::error_code ignored;
    std::filesystem::remove_all(state_, ignored);
}

std::string OwnServer::move_to_small_disk() {
    kill();
    std::string data = folder_ + "/data";
    shell("cp -a " + data + " " + data + ".copy && mount -t tmpfs -o size=160m sluice-test " + data +
          " && cp -a " + data + ".copy/. " + data + " && chown postgres: " + data + " && chmod 700 " + data +
          " && rm -r " + data + ".copy");
    on_small_disk_ = true;
    revive();
    return data;
}

void OwnServer::kill() { services("kill postgres"); }

void OwnServer::revive() { services("revive postgres"); }

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
