#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/redis/client/connection.hpp"
#include "store/redis/limits/redis_limits.hpp"
#include "support/hand_moment_clock.hpp"

namespace sluice::test {

// What tools/services has started: `SLUICE_TEST_REDIS`, `..._CLUSTER`, `..._SENTINEL`; empty if it has not.
std::string redis_address(const char* variable);

// Ends the test as skipped, which CI forbids, or as failed in CI.
#define SLUICE_NEEDS_REDIS(variable)                                                           \
    if (::sluice::test::redis_address(variable).empty()) {                                     \
        if (::sluice::test::redis_address("CI") == "true") {                                   \
            FAIL() << (variable) << " is not set; tools/test sets it";                         \
        }                                                                                      \
        GTEST_SKIP() << (variable) << " is not set; tools/services starts what it stands for"; \
    }

// Time-outs that a busy machine keeps.
RedisOptions patient(const std::string& address);

// A store, or throws: what a test cannot do without.
std::unique_ptr<LimitStore> open_limits(const RedisOptions& options);
// One that decides by the test's clock; its keys do not expire.
std::unique_ptr<LimitStore> open_limits(const RedisOptions& options, const MomentClock& clock);

// A plain client of one server.
class RawRedis {
public:
    explicit RawRedis(const redis::Endpoint& server);
    // The first server of an address; of sentinels, their master.
    explicit RawRedis(const std::string& address) : RawRedis{server_of(address)} {}

    // Throws if there is no answer. An error is an answer.
    redis::Reply ask(const std::vector<std::string>& words);
    std::string text(const std::vector<std::string>& words) { return std::string{ask(words).text()}; }
    std::int64_t integer(const std::vector<std::string>& words) { return ask(words).integer(); }
    // Of `INFO section`.
    std::string info(const std::string& section, const std::string& field);
    pid_t process() { return std::stoi(info("server", "process_id")); }
    [[nodiscard]] const redis::Endpoint& server() const { return connection_->endpoint(); }

    static redis::Endpoint server_of(const std::string& address);

private:
    std::unique_ptr<redis::Connection> connection_;
};

// The replica that a master knows first.
redis::Endpoint replica_of(RawRedis& master);

CheckOutcome take(LimitStore& store, std::string_view key, std::span<const Plan* const> plans,
                  Tokens cost = 1);
// Asks until it gets an answer; the patience of a test on a busy machine.
CheckOutcome take_at_last(LimitStore& store, std::string_view key, std::span<const Plan* const> plans,
                          Tokens cost = 1);
// Waits until it is so; throws after a minute.
void await(const std::function<bool()>& reached);

// Forgets everything, on all servers of an address.
void flush(const std::string& address);

// Servers that only this test uses, so that they may be killed, filled and moved about: a service of
// tools/services.
class OwnRedis {
public:
    // With a folder of make_certificate() they speak TLS, and nothing else.
    explicit OwnRedis(std::string service, const std::string& certificate_folder = "");
    ~OwnRedis();
    OwnRedis(const OwnRedis&) = delete;
    OwnRedis& operator=(const OwnRedis&) = delete;

    [[nodiscard]] const std::string& address() const { return address_; }
    // With SIGKILL; what was written stays.
    void kill();
    void revive();

private:
    std::string services(const std::string& command) const;

    std::string service_;
    std::string environment_;
    std::string state_;
    std::string address_;
};

// A key and a certificate that vouches for itself, in key.pem and cert.pem: "DNS:localhost", "IP:127.0.0.1".
void make_certificate(const std::string& folder, const std::string& name);
// The same, of which the last day has gone by.
void make_expired_certificate(const std::string& folder, const std::string& name);

// A command of the shell that must succeed; what it printed.
std::string run_command(const std::string& command);

}  // namespace sluice::test
