#include "support/postgres_fixture.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <unistd.h>

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

FreshDatabase::FreshDatabase() {
    static std::atomic<int> made{0};
    name_ = "sluice_test_" + std::to_string(::getpid()) + "_" + std::to_string(++made);
    dsn_ = with_database(postgres_address(), name_);
    ask(*connect(postgres_address()), "create database " + name_ + " template template0");
}

FreshDatabase::~FreshDatabase() {
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
        database_ = std::make_unique<FreshDatabase>();
        return;
    }
    const char* continuous = std::getenv("CI");
    if (continuous != nullptr && std::string{continuous} == "true") {
        FAIL() << "SLUICE_TEST_POSTGRES is not set; tools/test sets it";
    }
    GTEST_SKIP() << "SLUICE_TEST_POSTGRES is not set; tools/services starts a server";
}

}  // namespace sluice::test
