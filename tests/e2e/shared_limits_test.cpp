// Limits that several servers share: `--redis`, and `--store postgres://...`.
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include <gmock/gmock.h>

#include "support/cli_process.hpp"
#include "support/postgres_fixture.hpp"
#include "support/raw_http.hpp"
#include "support/redis_fixture.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class SharedLimits : public PostgresTest {
protected:
    SharedLimits() {
        std::ofstream{path_} << "plans:\n"
                                "  - {name: gold, algorithm: token_bucket, capacity: 3, refill: 1/d}\n"
                                "  - {name: safe, algorithm: token_bucket, capacity: 3, refill: 1/d, "
                                "on_store_failure: closed}\n";
    }

    static CliResult check(const CliServer& server, const std::string& plan, const char* tokens = "1") {
        return server.run({"check", "user-1", "--plan", plan, "--tokens", tokens, "--output", "json"});
    }

    // Two servers give away what there is once.
    static void share_one_limit(const CliServer& first, const CliServer& second) {
        EXPECT_EQ(check(first, "gold", "2").ending.code, 0);
        EXPECT_EQ(check(second, "gold").ending.code, 0);
        EXPECT_EQ(check(second, "gold").ending.code, 4);
        EXPECT_EQ(check(first, "gold").ending.code, 4);
    }

    static bool eventually(const std::function<bool()>& holds) {
        const auto deadline = std::chrono::steady_clock::now() + 20s;
        while (!holds()) {
            if (std::chrono::steady_clock::now() > deadline) {
                return false;
            }
            std::this_thread::sleep_for(20ms);  // Between two looks.
        }
        return true;
    }

    TempFolder folder_;
    std::string path_ = folder_ / "plans.yaml";
};

TEST_F(SharedLimits, AreOneInRedisAndFollowThePlansWhileItIsAway) {
    SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS");
    OwnRedis redis{"redis"};
    // A busy machine is not to be taken for a Redis that is away.
    const Variables patience{{"SLUICE_REDIS_TIMEOUT", "5s"}, {"SLUICE_LIMITS_DEADLINE", "5s"}};
    const std::vector<std::string> flags{"--store", "memory", "--redis", redis.address(), "--plans", path_};
    const CliServer first{flags, patience};
    const CliServer second{flags, patience};
    share_one_limit(first, second);

    redis.kill();

    EXPECT_THAT(check(first, "gold").out, HasSubstr(R"("reason":"FAIL_OPEN")"));
    EXPECT_THAT(check(first, "safe").out, HasSubstr(R"("reason":"FAIL_CLOSED")"));

    redis.revive();

    EXPECT_TRUE(eventually(
        [&] { return check(first, "safe", "0").out.find(R"("reason":"OK")") != std::string::npos; }));
}

TEST_F(SharedLimits, AreOneOnPostgresAndForSql) {
    const Variables patience{{"SLUICE_LIMITS_DEADLINE", "5s"}};
    const std::vector<std::string> flags{"--store", dsn(), "--plans", path_};
    const CliServer first{flags, patience};
    const CliServer second{flags, patience};
    share_one_limit(first, second);

    const auto connection = connect();
    EXPECT_EQ(ask(*connection, "select string_agg(name, ' ' order by name) from sluice.plan"), "gold safe");
    EXPECT_EQ(ask(*connection, "select allowed from sluice.allow('user-1', 'gold')"), "f");
    EXPECT_EQ(ask(*connection, "select remaining from sluice.allow('user-1', 'safe', 2)"), "1");
    EXPECT_EQ(check(first, "safe", "2").ending.code, 4);
    EXPECT_EQ(check(second, "safe").ending.code, 0);
}

TEST_F(SharedLimits, ThatAnotherTransactionHoldsOpenNoOtherCheck) {
    const CliServer server{{"--store", dsn(), "--plans", path_}, {{"SLUICE_LIMITS_DEADLINE", "3s"}}};
    const auto connection = connect();
    ask(*connection, "begin");
    ask(*connection, "select allowed from sluice.allow('held', 'safe')");

    const auto answered =
        call(server.port(), "POST", "/api/v1/check/batch",
             R"({"checks":[{"key":"held","plans":["safe"]},{"key":"free","plans":["safe"]},)"
             R"({"key":"held","plans":["gold"]}]})");

    EXPECT_THAT(answered.body,
                MatchesRegex(".*\"reason\":\"FAIL_CLOSED\".*\"reason\":\"OK\".*\"reason\":\"OK\".*"));
    ask(*connection, "rollback");
    EXPECT_EQ(check(server, "safe", "3").ending.code, 0);
}

TEST_F(SharedLimits, OfChangedPlansReachSqlWithinMoments) {
    CliServer server{{"--store", dsn(), "--plans", path_}};
    const auto connection = connect();

    std::ofstream{path_} << "plans:\n  - {name: new, algorithm: fixed_window, capacity: 1, window: P1D}\n";
    server.process().signal(SIGHUP);

    EXPECT_TRUE(eventually([&] {
        return ask(*connection, "select string_agg(name, ' ' order by name) from sluice.plan") == "new";
    }));
    EXPECT_EQ(ask(*connection, "select allowed from sluice.allow('user-1', 'new')"), "t");
}

}  // namespace
}  // namespace sluice::test
