// What a person meets who has never used Sluice before.
#include <csignal>
#include <fstream>

#include <gmock/gmock.h>

#include "support/cli_process.hpp"
#include "support/raw_http.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class FirstContact : public ::testing::Test {
protected:
    static CliServer& server() {
        static CliServer one{{"--store", "memory"}};
        return one;
    }
    static CliResult run(const Words& words) { return server().run(words); }
    static void make_config(const std::string& name) {
        const CliResult made = run({"config", "set", name, "--max-per-window", "2", "--window-size", "4s"});
        ASSERT_EQ(made.ending.code, 0) << made.errors;
    }

    TempFolder folder_;
};

TEST_F(FirstContact, SaysHowToMakeAConfigWhereThereIsNone) {
    const CliServer empty{{"--store", "memory"}};
    const std::string how = "Make one: sluice config set default --max-per-window 50 --window-size 1s";

    EXPECT_THAT(empty.run({"assign", "pay-1"}).errors, HasSubstr(how));
    EXPECT_THAT(call(empty.port(), "POST", "/api/v1/slots",
                     R"({"eventId":"a","requestedTime":"2030-01-01T09:00:00Z"})")
                    .body,
                HasSubstr(how));
    EXPECT_THAT(empty.run({"config", "list"}).out, HasSubstr(how));
    EXPECT_EQ(empty.run({"config", "list", "--output", "json"}).out, "{\"configs\":[]}\n");
    EXPECT_THAT(empty.run({"plan", "list"}).out, HasSubstr("Make one: sluice plan set gold --algorithm"));
    EXPECT_THAT(empty.run({"plan", "list", "--output", "json"}).out, HasSubstr("\"plans\":[]"));
}

TEST_F(FirstContact, SaysWhatToDoWhenNobodyAnswersOrAPlanIsMissing) {
    EXPECT_THAT(run_cli({"assign", "pay-1", "--server", "127.0.0.1:1"}).errors,
                HasSubstr("'sluice serve' starts one; --server or SLUICE_SERVER names another."));
    EXPECT_THAT(run({"check", "me", "--plan", "nope"}).errors, HasSubstr("'sluice plan set' makes one."));
}

TEST_F(FirstContact, NamesTheWayFromTheFrontPage) {
    const auto page = call(server().port(), "GET", "/");

    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.body, HasSubstr("/openapi.json"));
    EXPECT_THAT(page.body, HasSubstr("/api/v1/slots"));
    EXPECT_EQ(call(server().port(), "GET", "/nowhere").status, 404);
}

TEST_F(FirstContact, HasHelpAndVersion) {
    EXPECT_THAT(run_cli({"help"}).out, HasSubstr("assign"));
    EXPECT_THAT(run_cli({"version"}).out, ContainsRegex("^sluice [0-9.]+\n$"));
    EXPECT_THAT(run_cli({"version", "--output", "json"}).out, StartsWith("{\"version\":\""));
    EXPECT_THAT(run_cli({"completion", "zsh"}).out, StartsWith("#compdef sluice\n"));
    EXPECT_THAT(run_cli({"completion", "fish"}).out, HasSubstr("complete -c sluice"));
}

TEST_F(FirstContact, ListsConfigs) {
    make_config("zebra");
    make_config("alpha");

    EXPECT_THAT(run({"config", "list"}).out, ContainsRegex("alpha(.|\n)*zebra"));
    EXPECT_THAT(run({"config", "list", "--output", "json"}).out, StartsWith("{\"configs\":[{"));
}

TEST_F(FirstContact, ManagesPlans) {
    const CliResult set =
        run({"plan", "set", "gold", "--algorithm", "fixed_window", "--capacity", "3", "--window", "1h"});
    EXPECT_EQ(set.ending.code, 0) << set.errors;
    EXPECT_THAT(set.out, HasSubstr("PT1H"));
    EXPECT_THAT(run({"plan", "list"}).out, HasSubstr("fixed_window"));
    EXPECT_EQ(run({"check", "user-1", "--plan", "gold"}).ending.code, 0);
    EXPECT_EQ(run({"plan", "remove", "gold"}).out, "Removed plan gold.\n");
    EXPECT_EQ(run({"plan", "remove", "gold"}).ending.code, 1);
    EXPECT_THAT(run({"plan", "set", "gold", "--algorithm", "token_buket", "--capacity", "3"}).errors,
                HasSubstr("unknown algorithm 'token_buket'; the nearest known one is 'token_bucket'.\n"));
    EXPECT_EQ(run({"check", "user-1", "--plan", "gold"}).ending.code, 1);
}

TEST_F(FirstContact, ShowsAnOverrideBesideThePlansOwnLimit) {
    ASSERT_EQ(
        run({"plan", "set", "silver", "--algorithm", "token_bucket", "--capacity", "3", "--refill", "1/h"})
            .ending.code,
        0);
    ASSERT_EQ(
        run({"key", "override", "vip", "--plan", "silver", "--capacity", "50", "--ttl", "1h"}).ending.code,
        0);

    EXPECT_THAT(run({"key", "show", "vip", "--plan", "silver", "--output", "json"}).out,
                ContainsRegex("\"limit\":50,.*\"planLimit\":3,\"overrideUntil\":\"20[^\"]*Z\"}"));
    EXPECT_THAT(run({"key", "show", "vip", "--plan", "silver"}).out, HasSubstr("overrideUntil"));
    const CliResult ended = run({"key", "override", "vip", "--plan", "silver", "--remove"});
    EXPECT_EQ(ended.out, "Ended the override of vip.\n");
    EXPECT_THAT(run({"key", "show", "vip", "--plan", "silver", "--output", "json"}).out,
                ContainsRegex("\"limit\":3,.*\"planLimit\":3}"));
}

TEST_F(FirstContact, AssignsTheEventsOfAFile) {
    make_config("batch");
    std::ofstream{folder_ / "events.txt"}
        << "pay-1\n\n{\"eventId\":\"pay-2\",\"requestedTime\":\"2030-01-01T10:00:00Z\"}\r\npay 3\n";
    const Words words{"batch", folder_ / "events.txt", "--config-name", "batch",
                      "--at",  "2030-01-01T09:00:00Z"};

    const CliResult first = run(words);
    EXPECT_EQ(first.ending.code, 0) << first.errors;
    EXPECT_THAT(first.out, ContainsRegex("pay-1 .*2030-01-01T09:00:0"));
    EXPECT_THAT(first.out, ContainsRegex("pay-2 .*2030-01-01T10:00:0"));
    EXPECT_EQ(run(words).out, first.out);

    ASSERT_EQ(run({"slot", "cancel", "pay 3"}).ending.code, 0);
    const CliResult again = run(words);
    EXPECT_EQ(again.ending.code, 1);
    EXPECT_THAT(again.errors, HasSubstr("1 event got no slot."));
    EXPECT_THAT(again.out, ContainsRegex("pay 3 .* cancelled: Event 'pay 3' was cancelled\\.\n"));

    std::ofstream{folder_ / "bad.txt"} << "pay-1\n{\"eventId\":\n";
    EXPECT_THAT(run({"batch", folder_ / "bad.txt"}).errors, HasSubstr("Line 2 is not the JSON"));
    EXPECT_THAT(run({"batch", folder_ / "none.txt"}).errors, HasSubstr("No such file or directory"));
    EXPECT_THAT(run({"batch", folder_ / ""}).errors, HasSubstr("Is a directory"));
}

TEST_F(FirstContact, ShowsWindows) {
    make_config("windows");
    ASSERT_EQ(run({"assign", "w-1", "--config-name", "windows", "--at", "2030-01-01T09:00:00Z"}).ending.code,
              0);

    const CliResult shown =
        run({"windows", "--config-name", "windows", "--from", "2030-01-01T09:00:00Z", "--for", "8s"});

    EXPECT_EQ(shown.ending.code, 0) << shown.errors;
    EXPECT_THAT(shown.out, ContainsRegex("2030-01-01T09:00:00.000Z  1 +2\n"));
    EXPECT_THAT(run({"windows", "--from", "noon"}).errors, HasSubstr("2030-01-01T09:00:00Z"));
}

TEST_F(FirstContact, WaitsForAServer) {
    EXPECT_EQ(run({"wait"}).out, server().url() + " is ready.\n");
    EXPECT_THAT(run({"wait", "--output", "json"}).out, StartsWith("{\"ready\":true,\"status\":\"ok\","));
    // Without a scheme, too.
    EXPECT_EQ(run_cli({"wait", "--server", "127.0.0.1:" + std::to_string(server().port())}).ending.code, 0);

    const CliResult gone = run_cli({"wait", "--timeout", "300ms", "--server", "127.0.0.1:1"});
    EXPECT_EQ(gone.ending.code, 3);
    EXPECT_THAT(gone.errors, HasSubstr("Gave up after PT0.3S"));
}

TEST_F(FirstContact, SaysWhyAFileCannotBeRead) {
    EXPECT_THAT(run({"config", "get", "--token-file", folder_ / "none"}).errors,
                AllOf(HasSubstr("--token-file: "), HasSubstr("No such file or directory")));
    EXPECT_THAT(run_cli({"config", "get"}, {{"SLUICE_TOKEN_FILE", folder_ / "none"}}).errors,
                HasSubstr("SLUICE_TOKEN_FILE: "));
    EXPECT_THAT(run_cli({"serve", "--config", folder_ / ""}).errors, HasSubstr("Is a directory"));
}

TEST_F(FirstContact, ShowsItsSettingsToTheAdmin) {
    const auto told = call(server().port(), "GET", "/admin/settings");

    EXPECT_EQ(told.status, 200);
    EXPECT_THAT(told.body, HasSubstr(R"({"key":"store","value":"memory","origin":"--store"})"));
    EXPECT_THAT(told.body, HasSubstr(R"({"key":"plans","value":null,"origin":"not set"})"));
    EXPECT_THAT(told.body, ContainsRegex("\"filesMax\":[0-9]+"));
}

}  // namespace
}  // namespace sluice::test
