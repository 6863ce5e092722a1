#include "support/redis_access.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

// Passwords, users, TLS and eviction, on a server that only this test uses.
class RedisAccess : public testing::Test {
protected:
    void SetUp() override { SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS"); }

    OwnRedis& own() {
        if (!own_) {
            own_ = std::make_unique<OwnRedis>("redis");
            raw_ = std::make_unique<RawRedis>(own_->address());
        }
        return *own_;
    }
    std::string host_and_port() { return own().address().substr(std::string{"redis://"}.size()); }
    RawRedis& raw() { return own(), *raw_; }

private:
    std::unique_ptr<OwnRedis> own_;
    std::unique_ptr<RawRedis> raw_;
};

TEST_F(RedisAccess, SaysWhyItCannotConnect) {
    EXPECT_THAT(refusal(patient("127.0.0.1:1")), testing::HasSubstr("127.0.0.1:1 cannot be reached"));
    EXPECT_THAT(refusal(patient("nonsense")), testing::HasSubstr("has no port"));
    EXPECT_THAT(refusal(patient("redis+cluster://" + host_and_port())),
                testing::HasSubstr("is not part of a Cluster"));
    EXPECT_THAT(refusal(patient("redis+sentinel://" + host_and_port() + "/main")),
                testing::HasSubstr("knows no master 'main'"));
}

TEST_F(RedisAccess, GivesThePasswordAndNeverShowsIt) {
    raw().ask({"CONFIG", "SET", "requirepass", "hush"});

    EXPECT_THAT(refusal(patient(own().address())), testing::HasSubstr("wants a password"));
    const std::string wrong = refusal(patient("redis://:hushhush@" + host_and_port()));
    EXPECT_THAT(wrong, testing::AllOf(testing::HasSubstr("refuses the user or the password"),
                                      testing::Not(testing::HasSubstr("hush"))));
    EXPECT_EQ(left_after_one(patient("redis://:hush@" + host_and_port())), 9);
}

TEST_F(RedisAccess, ComesAsAUserWhoMayDoNoMoreThanItNeeds) {
    raw().ask(modest_user());

    EXPECT_EQ(left_after_one(patient("redis://sluice:hush@" + host_and_port())), 9);
    EXPECT_THAT(refusal(patient("redis://nobody:hush@" + host_and_port())),
                testing::HasSubstr("refuses the user or the password"));
}

TEST_F(RedisAccess, RefusesAReplicaAndSaysWhichAddressToGive) {
    raw().ask({"REPLICAOF", "127.0.0.1", "1"});

    EXPECT_THAT(refusal(patient(own().address())),
                testing::AllOf(testing::HasSubstr("is a replica"), testing::HasSubstr("redis+sentinel://")));
    raw().ask({"REPLICAOF", "NO", "ONE"});
    EXPECT_EQ(left_after_one(patient(own().address())), 9);
}

TEST_F(RedisAccess, RefusesAServerThatMayEvictUnlessTold) {
    raw().ask({"CONFIG", "SET", "maxmemory-policy", "volatile-lru"});
    raw().ask({"ACL", "SETUSER", "poor", "on", ">hush", "~*", "+@all", "-config"});
    RedisOptions options = patient(own().address());

    EXPECT_THAT(refusal(options), testing::HasSubstr("maxmemory-policy volatile-lru"));
    EXPECT_THAT(refusal(patient("redis://poor:hush@" + host_and_port())),
                testing::HasSubstr("maxmemory-policy volatile-lru"));
    options.allow_eviction = true;
    EXPECT_EQ(left_after_one(options), 9);
}

// A user who may do all that is needed, but for what is taken away here.
std::vector<std::string> without(const std::string& right) {
    auto words = modest_user({"resetkeys", "~rate_limiter:*"});
    std::erase(words, right);
    return words;
}

TEST_F(RedisAccess, DoesNotOpenWhereTheScriptIsRefusedAndSaysItInRedisOwnWords) {
    const RedisOptions as_user = patient("redis://sluice:hush@" + host_and_port());

    raw().ask(without("+hset"));
    EXPECT_THAT(refusal(as_user), testing::AllOf(testing::HasSubstr("refuses the script of limits: "),
                                                 testing::HasSubstr("can't run this command")));
    raw().ask({"ACL", "DELUSER", "sluice"});
    raw().ask(without("+evalsha"));
    EXPECT_THAT(refusal(as_user), testing::HasSubstr("permissions to run the 'evalsha' command"));
    raw().ask({"ACL", "DELUSER", "sluice"});
    raw().ask(modest_user({"resetkeys", "~another:*"}));
    EXPECT_THAT(refusal(as_user), testing::HasSubstr("NOPERM"));
    raw().ask({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_THAT(refusal(patient(own().address())),
                testing::HasSubstr("refuses the script of limits: OOM command not allowed"));
    raw().ask({"CONFIG", "SET", "maxmemory", "0"});
    EXPECT_EQ(left_after_one(patient(own().address())), 9);
    EXPECT_EQ(raw().integer({"DBSIZE"}), 1) << "the trial leaves nothing behind";
}

std::uint16_t free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const plain = reinterpret_cast<sockaddr*>(&address);  // NOLINT: as the interface wants it.
    if (::bind(socket, plain, size) != 0 || ::getsockname(socket, plain, &size) != 0) {
        throw std::runtime_error{"no free port"};
    }
    ::close(socket);
    return ntohs(address.sin_port);
}

TEST_F(RedisAccess, SpeaksTlsToWhomItMayBelieve) {
    const TempFolder folder;
    const std::string files = folder / "";
    make_certificate(files, "DNS:localhost");
    const std::string port = std::to_string(free_port());
    const auto set =
        raw().ask({"CONFIG", "SET", "tls-cert-file", files + "cert.pem", "tls-key-file", files + "key.pem",
                   "tls-ca-cert-file", files + "cert.pem", "tls-auth-clients", "optional", "tls-port", port});
    ASSERT_FALSE(set.is_error()) << set.text();

    RedisOptions options = patient("rediss://localhost:" + port);
    options.tls_ca_file = files + "cert.pem";
    EXPECT_EQ(left_after_one(options), 9);
    options.tls_certificate_file = files + "cert.pem";
    options.tls_key_file = files + "key.pem";
    raw().ask({"CONFIG", "SET", "tls-auth-clients", "yes"});
    EXPECT_EQ(left_after_one(options), 8);
    options.address = "rediss://127.0.0.1:" + port;
    EXPECT_THAT(refusal(options), testing::HasSubstr("its certificate is for another name than '127.0.0.1'"));
    options.address = "rediss://localhost:" + port;
    options.tls_ca_file.clear();
    EXPECT_THAT(refusal(options),
                testing::HasSubstr("no authority that we believe vouches for its certificate (self"));
    options.tls_ca_file = files + "nothing.pem";
    EXPECT_THAT(refusal(options), testing::HasSubstr("nothing.pem"));
}

TEST_F(RedisAccess, SaysWhichFaultOfTlsItIs) {
    const TempFolder folder;
    const std::string files = folder / "";
    make_expired_certificate(files, "DNS:localhost");
    const std::string port = std::to_string(free_port());
    const auto set =
        raw().ask({"CONFIG", "SET", "tls-cert-file", files + "cert.pem", "tls-key-file", files + "key.pem",
                   "tls-ca-cert-file", files + "cert.pem", "tls-auth-clients", "optional", "tls-port", port});
    ASSERT_FALSE(set.is_error()) << set.text();
    RedisOptions options = patient("rediss://localhost:" + port);
    options.tls_ca_file = files + "cert.pem";

    EXPECT_THAT(refusal(options), testing::HasSubstr("its certificate has expired"));
    options.address = "rediss://" + host_and_port();
    options.connect_timeout = options.timeout = std::chrono::seconds{2};
    EXPECT_THAT(refusal(options), testing::HasSubstr("no answer to TLS in time; this port may not speak it"));
    EXPECT_THAT(refusal(patient("redis://localhost:" + port)),
                testing::HasSubstr("if it wants TLS, its address begins with rediss://"));
}

// As operators do who hide commands.
TEST_F(RedisAccess, DoesNotOpenWhereEvalshaHasAnotherName) {
    const TempFolder folder;
    const std::string port = std::to_string(free_port());
    run_command("cd " + (folder / "") + " && redis-server --port " + port +
                " --bind 127.0.0.1 --save '' --rename-command EVALSHA hidden --daemonize yes");
    const redis::Endpoint server{"127.0.0.1", static_cast<std::uint16_t>(std::stoi(port))};
    await([&] { return redis::Connection::open(server, nullptr, redis::Deadline::max()).has_value(); });

    EXPECT_THAT(refusal(patient("127.0.0.1:" + port)), testing::HasSubstr("ERR unknown command 'EVALSHA'"));
    run_command("kill " + std::to_string(RawRedis{server}.process()));
}

}  // namespace
}  // namespace sluice::test
