#include <atomic>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <sluice/open_limiter.hpp>
#include <sluice/repositories.hpp>

#include "contract/rate_limiter_contract.hpp"
#include "support/postgres_fixture.hpp"
#include "support/redis_fixture.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

using std::chrono::seconds;

// As long as a busy machine may need.
constexpr seconds kPatience{60};
const std::string kPatientLines = "limits: {deadline: 60s}\nredis: {timeout: 60s}\n";

template <class T>
T good(Result<T, std::string> result) {
    if (!result) {
        throw std::runtime_error{result.error()};
    }
    return std::move(result).value();
}

LimiterKind over_redis(const std::string& name, const char* variable) {
    return {name, [variable](MissingPlan missing) -> std::unique_ptr<LimiterUnderTest> {
                const std::string address = redis_address(variable);
                if (address.empty()) {
                    return nullptr;
                }
                flush(address);
                return limiter_over(good(open_redis_repository({.address = address, .timeout = kPatience})),
                                    missing);
            }};
}

LimiterKind redis_by_file(const std::string& name, const char* variable) {
    return {name, [variable](MissingPlan missing) -> std::unique_ptr<LimiterUnderTest> {
                const std::string address = redis_address(variable);
                if (address.empty()) {
                    return nullptr;
                }
                flush(address);
                return limiter_of_file(kPatientLines + "store: " + address + "\n", missing);
            }};
}

// On a database that goes with it.
class OnPostgres final : public LimiterUnderTest {
public:
    OnPostgres(std::unique_ptr<FreshDatabase> database, std::unique_ptr<LimiterUnderTest> inner)
        : database_{std::move(database)}, inner_{std::move(inner)} {}
    RateLimiter& limiter() override { return inner_->limiter(); }

private:
    std::unique_ptr<FreshDatabase> database_;
    std::unique_ptr<LimiterUnderTest> inner_;
};

template <class Make>
std::unique_ptr<LimiterUnderTest> on_postgres(Make make) {
    if (postgres_address().empty()) {
        return nullptr;
    }
    auto database = std::make_unique<FreshDatabase>(Furnished::WithSlots);
    auto inner = make(database->dsn());
    return std::make_unique<OnPostgres>(std::move(database), std::move(inner));
}

std::unique_ptr<LimiterUnderTest> over_postgres(MissingPlan missing) {
    return on_postgres([missing](const std::string& dsn) {
        return limiter_over(good(open_postgres_repository({.dsn = dsn, .key_wait = kPatience})), missing);
    });
}

std::unique_ptr<LimiterUnderTest> postgres_by_file(MissingPlan missing) {
    return on_postgres([missing](const std::string& dsn) {
        return limiter_of_file(kPatientLines + "store: " + dsn + "\n", missing);
    });
}

INSTANTIATE_TEST_SUITE_P(Stores, RateLimiterContract,
                         testing::Values(over_redis("Redis", "SLUICE_TEST_REDIS"),
                                         over_redis("RedisCluster", "SLUICE_TEST_REDIS_CLUSTER"),
                                         over_redis("RedisSentinel", "SLUICE_TEST_REDIS_SENTINEL"),
                                         redis_by_file("RedisByFile", "SLUICE_TEST_REDIS"),
                                         redis_by_file("ClusterByFile", "SLUICE_TEST_REDIS_CLUSTER"),
                                         LimiterKind{"Postgres", over_postgres},
                                         LimiterKind{"PostgresByFile", postgres_by_file}),
                         [](const auto& kind) { return kind.param.name; });

using PostgresRepository = PostgresTest;

TEST_F(PostgresRepository, RefusesASchemaThatIsNotThereUnlessItMayMakeIt) {
    EXPECT_FALSE(open_postgres_repository({.dsn = dsn(), .migrate = false}));
    for (const std::size_t connections : {0U, 1'001U}) {
        const auto opened = open_postgres_repository({.dsn = dsn(), .pool_size = connections});
        EXPECT_EQ(opened ? "" : opened.error(), "The size of a pool of connections is 1 to 1,000.");
    }
    EXPECT_TRUE(open_postgres_repository({.dsn = dsn()}));
    EXPECT_TRUE(open_postgres_repository({.dsn = dsn(), .migrate = false}));
}

// How a child ends that does this: with 0 if it was so. One that hangs is ended by a signal.
int ending_of_child(const std::function<bool()>& is_so) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(20);
        ::_exit(is_so() ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
}

const std::string kPlansOfEachPolicy =
    "plans:\n"
    "  - {name: gold, algorithm: token_bucket, capacity: 1000000, refill: 1/h}\n"
    "  - {name: strict, algorithm: token_bucket, capacity: 5, refill: 1/h, on_store_failure: closed}\n"
    "  - {name: near, algorithm: token_bucket, capacity: 2, refill: 1/h, on_store_failure: local}\n";

// While other threads of the parent are in the midst of calls.
TEST(ForkedLimiter, AnswersInAChildByThePlansAndLeavesTheParentAlone) {
    SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS");
    const OwnRedis redis{"redis"};
    const TempFolder folder;
    const std::string path = folder / "limiter.yaml";
    std::ofstream{path} << kPlansOfEachPolicy << kPatientLines << "store: " << redis.address() << "\n";
    auto limiter = good(open_limiter(path));
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> others;
        for (int i = 0; i < 2; ++i) {
            others.emplace_back([&](const std::stop_token& stop) {
                while (!stop.stop_requested()) {
                    wrong += limiter->allow("k", {"gold"}).reason == RateLimitReason::Ok ? 0 : 1;
                }
            });
        }
        for (int i = 0; i < 20; ++i) {
            EXPECT_EQ(ending_of_child([&] {
                          const auto reason = [&](RateLimiter::Names plans) {
                              return limiter->allow("c", plans).reason;
                          };
                          const bool by_policy =
                              reason({"gold"}) == RateLimitReason::FailOpen &&
                              reason({"gold", "strict"}) == RateLimitReason::FailClosed &&
                              reason({"near"}) == RateLimitReason::Local &&
                              limiter->refund("c", {"gold"}).error().kind == RateLimitErrorKind::Unavailable;
                          limiter.reset();
                          return by_policy;
                      }),
                      0);
        }
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(ending_of_child([&] {
                  const auto own = open_limiter(path);
                  return own && (*own)->allow("c", {"strict"}).reason == RateLimitReason::Ok;
              }),
              0)
        << "a child may open its own";
    EXPECT_EQ(limiter->allow("c", {"strict"}, 4).reason, RateLimitReason::Ok);
    EXPECT_EQ(limiter->allow("c", {"strict"}).reason, RateLimitReason::Denied);
}

TEST(ForkedRepository, IsUnavailableInAChild) {
    SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS");
    const OwnRedis redis{"redis"};
    auto repository = good(open_redis_repository({.address = redis.address(), .timeout = kPatience}));
    const auto plan = good(RatePlan::make({.name = "gold", .capacity = 3, .refill = "1/h"}));
    const auto acquired = [&] { return repository->try_acquire("k", {&plan, 1}, 1); };
    ASSERT_TRUE(acquired());

    EXPECT_EQ(ending_of_child([&] {
                  const bool unavailable = acquired().error() == RepositoryError::Unavailable;
                  repository.reset();
                  return unavailable;
              }),
              0);
    EXPECT_EQ(acquired()->remaining, 1);
}

TEST(RedisRepository, IsUnavailableWhileItsServerIsAwayAndComesBackByItself) {
    OwnRedis redis{"redis"};
    const auto repository =
        good(open_redis_repository({.address = redis.address(), .timeout = std::chrono::milliseconds{200}}));
    const auto plan = good(RatePlan::make({.name = "gold", .capacity = 3, .refill = "1/h"}));
    const auto acquired = [&] { return repository->try_acquire("k", {&plan, 1}, 0); };

    redis.kill();
    EXPECT_EQ(acquired().error(), RepositoryError::Unavailable);
    EXPECT_EQ(repository->reset("k", {&plan, 1}).error(), RepositoryError::Unavailable);
    redis.revive();

    await([&] { return acquired().has_value(); });
    EXPECT_TRUE(acquired());
}

}  // namespace
}  // namespace sluice::test
