// Limits from the command line: plans from a file, checks, keys.
#include <csignal>
#include <fstream>

#include <gmock/gmock.h>

#include "support/cli_process.hpp"
#include "support/raw_http.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const std::string kGold = "  - {name: gold, algorithm: token_bucket, capacity: 3, refill: 1/d}\n";
const std::string kDaily =
    "  - {name: daily, algorithm: fixed_window, capacity: 10, window: P1D, start: first_hit}\n";

class LimitsCli : public ::testing::Test {
protected:
    LimitsCli() { write("plans:\n" + kGold + kDaily); }

    void write(const std::string& text) { std::ofstream{path_} << text; }
    // Writes the file, asks for a reload, and returns when the log says so.
    void reload(CliServer& server, const std::string& text, const std::string& said) {
        write(text);
        server.process().signal(SIGHUP);
        ASSERT_TRUE(server.process().wait_for_error_text(said)) << server.process().errors();
    }

    TempFolder folder_;
    std::string path_ = folder_ / "plans.yaml";
};

TEST_F(LimitsCli, ChecksAndTellsByItsExitCode) {
    const CliServer server{{"--store", "memory", "--plans", path_}};

    const CliResult allowed =
        server.run({"check", "user-1", "--plan", "gold", "--plan", "daily", "--tokens", "3"});
    EXPECT_EQ(allowed.ending.code, 0) << allowed.errors;
    EXPECT_THAT(allowed.out, HasSubstr("allowed       true\nplan          gold\n"));

    const CliResult denied = server.run({"check", "user-1", "--plan", "gold", "--output", "json"});
    EXPECT_EQ(denied.ending.code, 4);
    EXPECT_THAT(denied.out,
                MatchesRegex("\\{\"allowed\":false,\"plan\":\"gold\",.*\"reason\":\"DENIED\"\\}\n"));
    EXPECT_EQ(denied.errors, "");

    const CliResult unknown = server.run({"check", "user-1", "--plan", "nope"});
    EXPECT_EQ(unknown.ending.code, 1);
    EXPECT_THAT(unknown.errors, HasSubstr("'nope'"));
}

TEST_F(LimitsCli, ShowsResetsAndOverridesKeys) {
    const CliServer server{{"--store", "memory", "--plans", path_}};
    ASSERT_EQ(server.run({"check", "a/b \xC3\xA4", "--plan", "gold", "--tokens", "3"}).ending.code, 0);

    EXPECT_THAT(server.run({"key", "show", "a/b \xC3\xA4", "--plan", "gold"}).out, HasSubstr("gold  false"));
    EXPECT_EQ(server.run({"key", "reset", "a/b \xC3\xA4"}).out, "Reset a/b \xC3\xA4.\n");
    EXPECT_EQ(server.run({"check", "a/b \xC3\xA4", "--plan", "gold"}).ending.code, 0);

    const CliResult put =
        server.run({"key", "override", "vip", "--plan", "gold", "--capacity", "50", "--ttl", "PT1H"});
    EXPECT_EQ(put.ending.code, 0) << put.errors;
    EXPECT_EQ(server.run({"check", "vip", "--plan", "gold", "--tokens", "50"}).ending.code, 0);
    EXPECT_EQ(server.run({"key", "override", "vip", "--plan", "gold", "--remove"}).ending.code, 0);
    EXPECT_EQ(server.run({"check", "vip", "--plan", "gold", "--tokens", "50"}).ending.code, 1);
    EXPECT_EQ(server.run({"key", "reset", "vip", "--output", "json"}).out,
              "{\"key\":\"vip\",\"state\":\"reset\"}\n");
}

TEST_F(LimitsCli, ReloadsPlansAndKeepsTheOldOnesWhenTheFileIsBad) {
    CliServer server{{"--store", "memory", "--plans", path_}};
    ASSERT_EQ(server.run({"check", "k", "--plan", "gold", "--tokens", "2"}).ending.code, 0);

    reload(server,
           "plans:\n" + kGold + "  - {name: bad, algorithm: token_bucket, capacity: 0, refill: 1/s}\n",
           "The plans in force stay");
    EXPECT_THAT(server.process().errors(), HasSubstr(path_ + ": plan 'bad': "));
    EXPECT_EQ(server.run({"check", "k", "--plan", "daily"}).ending.code, 0);
    const auto listed = call(server.port(), "GET", "/admin/plans");
    EXPECT_THAT(listed.body, HasSubstr("\"fileError\":\"" + path_ + ": plan 'bad': "));
    const auto ready = call(server.port(), "GET", "/readyz");
    EXPECT_EQ(ready.status, 200);
    EXPECT_THAT(ready.body, HasSubstr("\"status\":\"degraded\""));
    EXPECT_THAT(call(server.port(), "GET", "/metrics").body, HasSubstr("\nsluice_limit_plans_refused 1\n"));

    reload(server,
           "plans:\n" + kGold + "  - {name: new, algorithm: token_bucket, capacity: 1, refill: 1/s}\n",
           "2 in force");
    EXPECT_EQ(server.run({"check", "k", "--plan", "new"}).ending.code, 0);
    EXPECT_EQ(server.run({"check", "k", "--plan", "daily"}).ending.code, 1);
    EXPECT_EQ(server.run({"check", "k", "--plan", "gold", "--tokens", "2"}).ending.code, 4);
    EXPECT_THAT(call(server.port(), "GET", "/readyz").body, HasSubstr("\"status\":\"ok\""));
}

TEST_F(LimitsCli, RefusesToStartWithABadPlansFile) {
    write("plans:\n  - {name: gold, algoritm: token_bucket}\n");

    const CliResult result =
        run_cli({"serve", "--listen", "127.0.0.1:0", "--store", "memory", "--plans", path_});

    EXPECT_EQ(result.ending.code, 1);
    EXPECT_THAT(result.errors,
                EndsWith(path_ + ": plan 'gold' at line 2 has an unknown key 'algoritm'; the nearest "
                                 "known one is 'algorithm'.\n"));
}

TEST_F(LimitsCli, AreExaminedByTheDoctor) {
    const CliServer server{{"--store", "memory", "--plans", path_}};
    const Variables variables{
        {"SLUICE_SERVER", server.url()}, {"SLUICE_STORE", "memory"}, {"SLUICE_PLANS", path_}};
    EXPECT_THAT(run_cli({"doctor"}, variables).out, HasSubstr("ok    plans: " + path_ + " holds 2 plans.\n"));

    write("plans: 7\n");

    const CliResult result = run_cli({"doctor"}, variables);
    EXPECT_EQ(result.ending.code, 1);
    EXPECT_THAT(result.out, HasSubstr("FAIL  plans: " + path_ + ": it must hold one list, 'plans:'.\n"));
}

TEST_F(LimitsCli, BenchesChecksAndCountsDenialsAsAnswers) {
    const CliServer server{{"--store", "memory", "--plans", path_}};

    const CliResult result = server.run({"bench", "check", "--plan", "gold", "--keys", "10", "--count", "500",
                                         "--connections", "4", "--json"});

    EXPECT_EQ(result.ending.code, 0) << result.errors;
    EXPECT_THAT(result.out, HasSubstr("\"requests\":500,\"succeeded\":500,\"errors\":0"));
    EXPECT_THAT(result.out, HasSubstr("\"statuses\":{\"200\":30,\"429\":470}"));
    const CliResult unknown = server.run({"bench", "check", "--plan", "nope", "--count", "5"});
    EXPECT_EQ(unknown.ending.code, 1);
    EXPECT_THAT(unknown.errors, HasSubstr("'nope'"));
}

}  // namespace
}  // namespace sluice::test
