#include "main/dispatch_commands.hpp"

#include <gmock/gmock.h>

namespace sluice {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

Invocation parsed(const Words& words) {
    auto result = parse_command_line(words, {});
    const auto* error = std::get_if<UsageError>(&result);
    EXPECT_EQ(error, nullptr) << (error == nullptr ? "" : error->sentence);
    return std::get<Invocation>(result);
}

// "METHOD target body", or why it cannot be asked.
std::string asked(const Words& words) {
    const auto request = to_dispatch_request(parsed(words));
    return request ? request->method + " " + request->target + " " + request->body : request.error();
}

std::string work_of(const Words& words) {
    JsonObject event;
    const auto error = add_work(event, parsed(words));
    return error ? *error : event.done();
}

std::string terms_of(Words words) {
    words.insert(words.begin(), {"config", "set", "c", "--max-per-window", "1", "--window-size", "1s"});
    JsonObject config;
    const auto error = add_dispatch(config, parsed(words));
    return error ? *error : config.done();
}

TEST(DispatchCommands, AskForWork) {
    EXPECT_EQ(asked({"work", "list"}), "GET /api/v1/work?limit=100 ");
    EXPECT_EQ(asked({"work", "list", "--state", "dead", "--config-name", "a b", "--host", "h", "--after",
                     "ff", "--limit", "5"}),
              "GET /api/v1/work?state=dead&configName=a%20b&host=h&after=ff&limit=5 ");
}

TEST(DispatchCommands, ReplayEventsWithCommasInTheirNames) {
    EXPECT_EQ(asked({"dead", "replay", "a", "b,c"}),
              R"(POST /admin/dispatch/replay {"eventIds":["a","b,c"]})");
    EXPECT_EQ(asked({"dead", "replay", "--host", "h", "--since", "s", "--until", "u"}),
              R"(POST /admin/dispatch/replay {"host":"h","since":"s","until":"u"})");
    EXPECT_EQ(asked({"dead", "replay"}), "POST /admin/dispatch/replay {}");
}

TEST(DispatchCommands, PauseAndResume) {
    EXPECT_EQ(asked({"dispatch", "show"}), "GET /admin/dispatch ");
    EXPECT_EQ(asked({"dispatch", "pause", "--config-name", "c"}),
              R"(POST /admin/dispatch/pause {"configName":"c"})");
    EXPECT_EQ(asked({"dispatch", "pause", "--pool", "p"}), R"(POST /admin/dispatch/pause {"pool":"p"})");
    EXPECT_EQ(asked({"dispatch", "resume", "--endpoint", "http://h/"}),
              R"(POST /admin/dispatch/resume {"endpoint":"http://h/"})");
}

TEST(DispatchCommands, GiveAndTakeRates) {
    EXPECT_EQ(asked({"dispatch", "rate", "--host", "h", "--per-second", "020", "--rate-holds", "sender"}),
              R"(PUT /admin/dispatch/rates {"host":"h","maxPerSecond":20,"rateHolds":"sender"})");
    EXPECT_EQ(asked({"dispatch", "rate", "--pool", "p", "--none"}),
              R"(PUT /admin/dispatch/rates {"pool":"p","maxPerSecond":null})");
    EXPECT_THAT(asked({"dispatch", "rate", "--pool", "p"}), HasSubstr("either --per-second N or --none"));
    EXPECT_THAT(asked({"dispatch", "rate", "--pool", "p", "--none", "--per-second", "1"}),
                HasSubstr("either --per-second N or --none"));
}

TEST(DispatchCommands, TellTheWorkOfAnEvent) {
    EXPECT_EQ(work_of({"assign", "e"}), "{}");
    EXPECT_EQ(
        work_of({"assign", "e", "--target", "log", "--payload", R"({ "a": 1.50 })", "--expires-after", "1h"}),
        R"({"target":{"type":"log"},"payload":{ "a": 1.50 },"expiresAfter":"PT1H"})");
    EXPECT_EQ(work_of({"assign", "e", "--target-url", "http://h/"}),
              R"({"target":{"type":"webhook","url":"http://h/"}})");
    EXPECT_EQ(work_of({"assign", "e", "--target-topic", "t"}), R"({"target":{"type":"kafka","topic":"t"}})");
    EXPECT_THAT(work_of({"assign", "e", "--target", "log", "--target-topic", "t"}),
                HasSubstr("give one of them"));
    for (const char* payload : {"nope", "", R"(1,"weight":9)", "{} {}"}) {
        EXPECT_THAT(work_of({"assign", "e", "--target", "log", "--payload", payload}),
                    HasSubstr("is not JSON"))
            << payload;
    }
}

TEST(DispatchCommands, TellHowTheWorkOfAConfigGoesOut) {
    EXPECT_EQ(terms_of({}), "{}");
    EXPECT_EQ(
        terms_of({"--max-per-second", "50", "--rate-holds", "sender", "--expires-after", "1h",
                  "--retry-schedule", "5s,PT1M"}),
        R"({"maxPerSecond":50,"rateHolds":"sender","expiresAfter":"PT1H","retrySchedule":["PT5S","PT1M"]})");
    EXPECT_EQ(terms_of({"--retry-schedule", "none"}), R"({"retrySchedule":[]})");
    for (const char* wrong : {"5s,", "soon", "5s,,5s"}) {
        EXPECT_THAT(terms_of({"--retry-schedule", wrong}), HasSubstr("--retry-schedule: ")) << wrong;
    }
}

constexpr std::string_view kStory =
    R"({"eventId":"e","state":"assigned","work":{"state":"retrying","attempts":1,"nextAttempt":"soon",)"
    R"("target":{"type":"log"},"audit":[{"action":"attempt","by":"node-1"}]}})";

TEST(DispatchCommands, ShowHowTheWorkOfASlotStands) {
    const std::string without = dispatch_output(parsed({"slot", "get", "e"}), kStory);
    const std::string with = dispatch_output(parsed({"slot", "get", "e", "--audit"}), kStory);

    EXPECT_THAT(without, HasSubstr("state        assigned\n"));
    EXPECT_THAT(without, HasSubstr("work         retrying\n"));
    EXPECT_THAT(without, HasSubstr("attempts     1\nnextAttempt  soon\n"));
    EXPECT_THAT(without, Not(HasSubstr("node-1")));
    EXPECT_THAT(with, HasSubstr("audit:\n  action   by\n  attempt  node-1\n"));
    EXPECT_EQ(dispatch_output(parsed({"slot", "get", "e"}), R"({"eventId":"e"})"), "eventId  e\n");
}

TEST(DispatchCommands, ShowAnswersToPeople) {
    EXPECT_EQ(dispatch_output(parsed({"dead", "replay", "e"}), R"({"replayed":3})"),
              "3 will be tried again.\n");
    EXPECT_EQ(dispatch_output(parsed({"work", "list"}), R"({"work":[],"after":null})"),
              "There is no such work.\n");
    EXPECT_EQ(dispatch_output(parsed({"dispatch", "show"}), R"({"holds":[],"counts":{"due":1,"dead":0}})"),
              "holds  -\ncounts:\n  due  dead\n  1    0\n");
}

}  // namespace
}  // namespace sluice
