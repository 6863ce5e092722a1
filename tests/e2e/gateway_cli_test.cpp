#include <csignal>

#include <gmock/gmock.h>

#include "support/cli_process.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

TEST(GatewayCli, SetsShowsAndSendsUntilTheWindowIsFull) {
    CliServer server{{"--store", "memory", "--log-level", "error"}};

    EXPECT_THAT(server.run({"user", "set", "101", "--rate-limit", "1", "--time-window", "5"}).out,
                ContainsRegex("rateLimit +1\n"));
    const CliResult sent = server.run({"send", "101", "Hello\nWorld", "--request-id", "r"});
    EXPECT_EQ(sent.ending.code, 0);
    EXPECT_THAT(sent.out, MatchesRegex("Message Sent Successfully, as msg-[0-9a-f]+\\.\n"));
    EXPECT_EQ(server.run({"send", "101", "Hello", "--request-id", "r"}).out, sent.out);
    EXPECT_THAT(server.run({"user", "get", "101"}).out, ContainsRegex("currentCount +1\n"));
    const CliResult denied = server.run({"send", "101", "Hello"});
    EXPECT_EQ(denied.ending.code, 4);
    EXPECT_THAT(denied.errors, StartsWith("sluice: The server answered 429: Rate Limit Exceeded. There is "));

    EXPECT_TRUE(server.process().wait_for_error_text("INFO  Sender - SMS Sent: 101: Hello\\nWorld\n"));
}

TEST(GatewayCli, TellsProgramsInJson) {
    CliServer server{{"--store", "memory"}};
    const Words json{"--output", "json"};
    const auto run = [&](Words words) {
        words.insert(words.end(), json.begin(), json.end());
        return server.run(words);
    };

    EXPECT_THAT(run({"user", "set", "007", "--rate-limit", "1", "--time-window", "5"}).out,
                StartsWith(R"({"userId":7,"rateLimit":1,"timeWindow":5,"currentCount":0,)"));
    EXPECT_THAT(run({"send", "7", "x", "--validity", "10m", "--to", "+49", "--from", "me"}).out,
                MatchesRegex("\\{\"status\":200,\"answer\":\"Message Sent "
                             "Successfully\",\"messageId\":\"msg-[0-9a-f]+\"\\}\n"));
    EXPECT_EQ(run({"send", "7", "x"}).out,
              "{\"status\":429,\"answer\":\"Rate Limit Exceeded\",\"retryAfter\":\"300\"}\n");
    const CliResult unknown = run({"user", "get", "8"});
    EXPECT_EQ(unknown.ending.code, 1);
    EXPECT_EQ(unknown.out, "{\"status\":404,\"answer\":\"User Not Found\"}\n");
    EXPECT_EQ(unknown.errors, "sluice: The server answered 404: User Not Found.\n");
    EXPECT_EQ(run({"send", "9999999999", "x"}).ending.code, 1);
    EXPECT_EQ(run({"send", "x", "x"}).ending.code, 2);
}

TEST(GatewayCli, SaysAtTheStartThatItGoesOverKafka) {
    CliServer server{{"--store", "memory", "--kafka", "127.0.0.1:1"}};

    EXPECT_THAT(server.process().errors(), HasSubstr(", gateway over Kafka\n"));
}

// What was counted and sent before is so after it.
TEST(GatewayCli, GoesOnAfterARestart) {
    const TempFolder folder;
    const Words words{"--data", folder / "data"};
    {
        CliServer server{words};
        const Words set{"user", "set", "101", "--rate-limit", "5", "--time-window", "5"};
        EXPECT_EQ(server.run(set).ending.code, 0);
        EXPECT_EQ(server.run({"send", "101", "before"}).ending.code, 0);
        server.process().signal(SIGTERM);
        EXPECT_EQ(server.process().wait().code, 0);
    }
    CliServer server{words};

    EXPECT_THAT(server.run({"user", "get", "101"}).out, ContainsRegex("currentCount +1\n"));
    EXPECT_EQ(server.run({"send", "101", "after"}).ending.code, 0);
    EXPECT_TRUE(server.process().wait_for_error_text("SMS Sent: 101: after\n"));
}

}  // namespace
}  // namespace sluice::test
