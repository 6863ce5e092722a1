#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sluice/open_limiter.hpp>

#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class OpenLimiterTest : public testing::Test {
protected:
    Result<std::unique_ptr<RateLimiter>, std::string> open(const std::string& text) {
        std::ofstream{path_} << text;
        return open_limiter(path_);
    }
    std::string error(const std::string& text) {
        const auto opened = open(text);
        return opened ? "no error" : opened.error();
    }

    TempFolder folder_;
    std::string path_ = folder_ / "limiter.yaml";
};

TEST_F(OpenLimiterTest, KeepsItsStateInMemoryUnlessToldOtherwise) {
    const auto limiter = open(
        "plans:\n"
        "  - {name: gold, algorithm: token_bucket, capacity: 1, refill: 1/h}\n");

    ASSERT_TRUE(limiter) << limiter.error();
    EXPECT_TRUE((*limiter)->allow("k", {"gold"}).allowed);
    EXPECT_FALSE((*limiter)->allow("k", {"gold"}).allowed);
}

TEST_F(OpenLimiterTest, TakesEverySettingThatItKnows) {
    EXPECT_EQ(error("plans: []\n"
                    "store: memory\n"
                    "limits: {keysMax: 10, deadline: 20ms, failOpenTime: PT1M, failOpenTokens: 5,\n"
                    "         denyCache: 1s, leaseTime: PT2S}\n"
                    "redis: {timeout: 20ms, allowEviction: true, tlsCa: ca.pem}\n"
                    "postgres: {migrateAtStart: false}\n"),
              "no error");
}

TEST_F(OpenLimiterTest, HoldsNoMoreKeysThanItMay) {
    const auto limiter = open(
        "plans: [{name: gold, algorithm: token_bucket, capacity: 1, refill: 1/h}]\n"
        "limits: {keysMax: 1}\n");

    ASSERT_TRUE(limiter) << limiter.error();
    EXPECT_TRUE((*limiter)->allow("a", {"gold"}).allowed);
    EXPECT_FALSE((*limiter)->allow("b", {"gold"}).allowed);
}

TEST_F(OpenLimiterTest, SaysWhatIsWrongWithAFile) {
    struct Case {
        std::string text;
        std::string sentence;  // A part of it.
    };
    const std::vector<Case> cases{
        {"", "it must hold a list, 'plans:'."},
        {"store: memory\n", "it must hold a list, 'plans:'."},
        {"- plans\n", "is not a tree of keys and values."},
        {"plans: 5\n", "line 1: 'plans' takes a list."},
        {"plans: [\n", "is not YAML"},
        {"plans: []\nstor: memory\n", "line 2: the key 'stor' is unknown; the nearest known one is 'store'."},
        {"plans: []\nlimits: {deadlin: 5s}\n", "the nearest known one is 'limits.deadline'."},
        {"plans: []\nlisten: 1\n", "line 2: the key 'listen' is unknown"},
        {"plans: []\nstore: memory\nstore: memory\n", "sets 'store' twice"},
        {"plans: []\nstore: [memory]\n", "'store' takes one value, not a list."},
        {"plans: []\nstore: embedded\n", "line 2: store: it is memory, or the address of a store"},
        {"plans: []\nlimits: {deadline: soon}\n", "limits.deadline: 'soon' is not a duration"},
        {"plans: []\nlimits: {keysMax: 0}\n", "limits.keysMax: '0' is not a whole number from 1 to"},
        {"plans: []\nlimits: {failOpenTime: -1s}\n", "limits.failOpenTime: '-1s' is not a duration"},
        {"plans: []\nlimits: {failOpenTokens: many}\n", "limits.failOpenTokens: 'many' is not a whole"},
        {"plans: []\nlimits: {denyCache: on}\n", "limits.denyCache: 'on' is not a duration"},
        {"plans: []\nlimits: {leaseTime: 0}\n", "limits.leaseTime: '0' is not a duration"},
        {"plans: []\nredis: {timeout: 5}\n", "redis.timeout: '5' is not a duration"},
        {"plans: []\nredis: {allowEviction: yes}\n", "redis.allowEviction: 'yes' is none of: false, true."},
        {"plans: []\nredis: {tlsCa: ''}\n", "redis.tlsCa: an empty path names nothing."},
        {"plans: []\npostgres: {migrateAtStart: 1}\n", "postgres.migrateAtStart: '1' is none of"},
        {"plans: [{name: a, capacty: 1}]\n", "plan 'a' at line 1 has an unknown key 'capacty'; the nearest"},
        {"plans: [{name: a, algorithm: token_bucket, capacity: 1}]\n", "plan 'a': refill must be like"},
        {"plans: [{name: a, algorithm: concurrency, capacity: 1, window: PT1M},"
         " {name: a, algorithm: concurrency, capacity: 1, window: PT1M}]\n",
         "plan 'a' stands there twice"},
    };
    for (const Case& each : cases) {
        const std::string said = error(each.text);

        EXPECT_THAT(said, StartsWith(path_)) << each.text;
        EXPECT_THAT(said, HasSubstr(each.sentence)) << each.text;
    }
}

TEST_F(OpenLimiterTest, SaysThatThereIsNoFile) {
    EXPECT_EQ(open_limiter(path_).error(),
              "The limiter file " + path_ + " cannot be read: No such file or directory.");
}

TEST_F(OpenLimiterTest, FailsWithoutItsStoreAndNeverShowsAPassword) {
    for (const std::string store :
         {"redis://u:secret@127.0.0.1:1", "redis+cluster://u:secret@127.0.0.1:1", "redis://u:secret@",
          "postgres://u:secret@127.0.0.1:1/x", "mysql://u:secret@127.0.0.1:1"}) {
        const std::string said = error("plans: []\nstore: " + store + "\n");

        EXPECT_THAT(said, StartsWith(path_)) << store;
        EXPECT_THAT(said, Not(HasSubstr("secret"))) << store;
    }
}

}  // namespace
}  // namespace sluice::test
