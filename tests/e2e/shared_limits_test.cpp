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
                                "on_store_failure: closed}\n"
                                "  - {name: fast, algorithm: token_bucket, capacity: 20, refill: 1/d, "
                                "lease: 5}\n";
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

    // What the store has left, whatever servers hold of it.
    static bool has_left(const CliServer& server, const std::string& plan, const char* tokens) {
        return check(server, plan, "0").out.find(R"("remaining":)" + std::string{tokens} + ",") !=
               std::string::npos;
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
    CliServer first{flags, patience};
    const CliServer second{flags, patience};
    share_one_limit(first, second);
    const std::string place = " at 127.0.0.1:";
    EXPECT_THAT(first.process().errors(), HasSubstr("limits in Redis" + place));
    const CliResult well = first.run({"doctor"});
    EXPECT_EQ(well.ending.code, 0) << well.out;
    EXPECT_THAT(well.out, HasSubstr("ok    redis: It can be used" + place));
    EXPECT_THAT(well.out, HasSubstr("ok    redis clock: "));

    redis.kill();

    EXPECT_EQ(first.run({"doctor"}).ending.code, 1);
    EXPECT_THAT(check(first, "gold").out, HasSubstr(R"("reason":"FAIL_OPEN")"));
    EXPECT_THAT(check(first, "safe").out, HasSubstr(R"("reason":"FAIL_CLOSED")"));

    EXPECT_TRUE(first.process().wait_for_error_text("LimitService - Redis" + place));

    redis.revive();

    EXPECT_TRUE(eventually(
        [&] { return check(first, "safe", "0").out.find(R"("reason":"OK")") != std::string::npos; }));
}

// How many single tokens two servers give away until both deny.
int drain(const CliServer& first, const CliServer& second, const std::string& plan) {
    const std::string question = R"({"key":"user-1","plans":[")" + plan + R"("]})";
    int given = 0;
    for (const CliServer* server : {&first, &second, &first}) {
        while (call(server->port(), "POST", "/api/v1/check", question).status == 200) {
            ++given;
        }
    }
    return given;
}

TEST_F(SharedLimits, WithALeaseAdmitAtMostABlockOfEachServerMore) {
    SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS");
    OwnRedis redis{"redis"};
    const Variables patience{{"SLUICE_REDIS_TIMEOUT", "5s"},
                             {"SLUICE_LIMITS_DEADLINE", "5s"},
                             {"SLUICE_LIMITS_LEASE_TIME", "PT1H"}};
    const std::vector<std::string> flags{"--store", "memory", "--redis", redis.address(), "--plans", path_};
    const CliServer first{flags, patience};
    const CliServer second{flags, patience};
    EXPECT_EQ(check(first, "fast").ending.code, 0);
    EXPECT_EQ(check(second, "fast").ending.code, 0);
    EXPECT_TRUE(has_left(first, "fast", "10"));

    flush(redis.address());  // As if the bucket had filled while both held four.

    EXPECT_EQ(drain(first, second, "fast"), 20 + 2 * 4);
}

TEST_F(SharedLimits, WithALeaseAreGivenBackWhenItEndsOrTheServerStops) {
    SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS");
    OwnRedis redis{"redis"};
    const std::vector<std::string> flags{"--store", "memory", "--redis", redis.address(), "--plans", path_};
    const auto holding = [](const char* time) {
        return Variables{{"SLUICE_REDIS_TIMEOUT", "5s"},
                         {"SLUICE_LIMITS_DEADLINE", "5s"},
                         {"SLUICE_LIMITS_LEASE_TIME", time}};
    };
    CliServer slow{flags, holding("PT1H")};
    const CliServer quick{flags, holding("100ms")};
    EXPECT_EQ(check(slow, "fast", "2").ending.code, 0);
    EXPECT_TRUE(has_left(quick, "fast", "15"));

    slow.process().signal(SIGTERM);

    EXPECT_EQ(slow.process().wait().code, 0);
    EXPECT_TRUE(has_left(quick, "fast", "18"));
    EXPECT_EQ(check(quick, "fast", "2").ending.code, 0);
    EXPECT_TRUE(eventually([&] { return has_left(quick, "fast", "16"); }));
}

TEST_F(SharedLimits, ThatAreDeniedHearOfOtherServersInTime) {
    SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS");
    OwnRedis redis{"redis"};
    const std::vector<std::string> flags{"--store", "memory", "--redis", redis.address(), "--plans", path_};
    const auto believing = [](const char* time) {
        return Variables{{"SLUICE_REDIS_TIMEOUT", "5s"},
                         {"SLUICE_LIMITS_DEADLINE", "5s"},
                         {"SLUICE_LIMITS_DENY_CACHE", time}};
    };
    const CliServer slow{flags, believing("PT1H")};
    const CliServer quick{flags, believing("PT1S")};
    const CliServer other{flags, believing("0")};
    const Words reset{"key", "reset", "user-1"};
    EXPECT_EQ(check(slow, "gold", "3").ending.code, 0);
    EXPECT_EQ(check(slow, "gold").ending.code, 4);
    EXPECT_EQ(check(quick, "gold").ending.code, 4);

    EXPECT_EQ(other.run(reset).ending.code, 0);

    EXPECT_EQ(check(other, "gold").ending.code, 0);
    EXPECT_EQ(check(slow, "gold").ending.code, 4) << "it believes its denial";
    EXPECT_TRUE(eventually([&] { return check(quick, "gold").ending.code == 0; }));
    EXPECT_EQ(slow.run(reset).ending.code, 0);
    EXPECT_EQ(check(slow, "gold").ending.code, 0) << "what is reset here counts at once";
}

TEST_F(SharedLimits, AreOneOnPostgresAndForSql) {
    const Variables patience{{"SLUICE_LIMITS_DEADLINE", "5s"}};
    const std::vector<std::string> flags{"--store", dsn(), "--plans", path_};
    const CliServer first{flags, patience};
    const CliServer second{flags, patience};
    share_one_limit(first, second);

    const auto connection = connect();
    EXPECT_EQ(ask(*connection, "select string_agg(name, ' ' order by name) from sluice.plan"),
              "fast gold safe");
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
                MatchesRegex(".*\"reason\":\"CONTENDED\".*\"reason\":\"OK\".*\"reason\":\"OK\".*"));
    ask(*connection, "rollback");
    EXPECT_EQ(check(server, "safe", "3").ending.code, 0);
}

TEST_F(SharedLimits, ThatAnotherTransactionHoldsAreDeniedWhateverThePlanSays) {
    const CliServer server{{"--store", dsn(), "--plans", path_}, {{"SLUICE_LIMITS_DEADLINE", "3s"}}};
    const auto connection = connect();
    ask(*connection, "begin");
    ask(*connection, "select allowed from sluice.allow('user-1', 'gold')");

    const auto denied = call(server.port(), "POST", "/api/v1/check", R"({"key":"user-1","plans":["gold"]})");

    EXPECT_EQ(denied.status, 429);
    EXPECT_THAT(denied.body, HasSubstr(R"("retryAfterMs":1000,"resetAfterMs":1000,"reason":"CONTENDED")"));
    EXPECT_EQ(denied.body.find("RateLimit:"), std::string::npos);
    EXPECT_THAT(call(server.port(), "GET", "/metrics").body,
                HasSubstr(R"(sluice_limit_checks_total{plan="gold",result="contended"} 1)"));
    ask(*connection, "rollback");
    EXPECT_EQ(check(server, "gold", "3").ending.code, 0);
}

// On two servers and one that starts later, with a plan that an administrator gave the first.
void share_an_administrators_plan(const std::vector<std::string>& flags, const Variables& patience) {
    const auto plan = [](const CliServer& server, const char* method, const char* body = "") {
        return call(server.port(), method, "/admin/plans/new", body);
    };
    const CliServer first{flags, patience};
    const CliServer second{flags, patience};
    ASSERT_EQ(plan(first, "PUT", R"({"algorithm":"fixed_window","capacity":2,"window":"P1D"})").status, 200);
    EXPECT_EQ(call(first.port(), "PUT", "/admin/plans/gold",
                   R"({"algorithm":"fixed_window","capacity":2,"window":"P1D"})")
                  .status,
              400)
        << "the file wins";

    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (plan(second, "GET").status != 200) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline);
        std::this_thread::sleep_for(20ms);  // Between two looks.
    }
    const CliServer later{flags, patience};
    EXPECT_EQ(plan(later, "GET").body, plan(first, "GET").body);
    EXPECT_EQ(plan(second, "DELETE").status, 204);
    while (plan(first, "GET").status != 404) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline);
        std::this_thread::sleep_for(20ms);
    }
}

TEST_F(SharedLimits, FollowAdministratorsPlansOfAllServersInRedis) {
    SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS");
    OwnRedis redis{"redis"};
    share_an_administrators_plan({"--store", "memory", "--redis", redis.address(), "--plans", path_},
                                 {{"SLUICE_REDIS_TIMEOUT", "5s"}, {"SLUICE_LIMITS_DEADLINE", "5s"}});
}

TEST_F(SharedLimits, FollowAdministratorsPlansOfAllServersOnPostgres) {
    share_an_administrators_plan({"--store", dsn(), "--plans", path_}, {{"SLUICE_LIMITS_DEADLINE", "5s"}});
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
