#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>

#include "main/command_line.hpp"
#include "main/human_output.hpp"

namespace sluice {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

Invocation must_parse(const Words& words, const Environment& variables = {}) {
    auto parsed = parse_command_line(words, variables);
    const auto* error = std::get_if<UsageError>(&parsed);
    EXPECT_EQ(error, nullptr) << (error == nullptr ? "" : error->sentence);
    return std::get<Invocation>(parsed);
}

std::string error_of(const Words& words) {
    const auto parsed = parse_command_line(words, {});
    const auto* error = std::get_if<UsageError>(&parsed);
    return error == nullptr ? "no error" : error->sentence;
}

std::string printed(const Words& words) {
    const auto parsed = parse_command_line(words, {});
    const auto* text = std::get_if<Printed>(&parsed);
    return text == nullptr ? "nothing" : text->text;
}

Words split(const std::string& path) {
    std::istringstream stream{path};
    return {std::istream_iterator<std::string>{stream}, {}};
}

TEST(CommandLine, GivesTheCommandWithItsValues) {
    const Invocation invocation = must_parse({"assign", "--weight", "2", "pay-1", "--config-name=gold"});

    EXPECT_EQ(invocation.command->path, "assign");
    EXPECT_EQ(invocation.value("EVENT_ID"), "pay-1");
    EXPECT_EQ(invocation.value("weight"), "2");
    EXPECT_EQ(invocation.value("config-name"), "gold");
    EXPECT_EQ(invocation.value("server"), "http://127.0.0.1:8080");
    EXPECT_FALSE(invocation.has("at"));
    EXPECT_FALSE(invocation.wants_json());
}

TEST(CommandLine, TakesWordsThatLookLikeOptionsAfterTwoDashes) {
    EXPECT_EQ(must_parse({"slot", "get", "--", "--evil"}).value("EVENT_ID"), "--evil");
}

TEST(CommandLine, JoinsWhatMayBeGivenSeveralTimes) {
    const Invocation invocation = must_parse({"check", "--plan", "gold", "user-1", "--plan=daily"});

    EXPECT_EQ(invocation.value("plan"), "gold,daily");
    EXPECT_EQ(invocation.value("KEY"), "user-1");
    EXPECT_EQ(invocation.value("tokens"), "1");
    EXPECT_THAT(error_of({"check", "k", "--plan", "a", "--tokens", "1", "--tokens", "2"}),
                HasSubstr("given twice"));
    EXPECT_THAT(error_of({"check", "k"}), HasSubstr("--plan"));
    EXPECT_THAT(error_of({"check", "k", "--plan", "a", "--tokens", "1.5"}), HasSubstr("whole number"));
}

TEST(CommandLine, LetsAVariableStandInForAnOption) {
    const Environment variables{{"SLUICE_SERVER", "http://h:1"}};

    EXPECT_EQ(must_parse({"quote"}, variables).value("server"), "http://h:1");
    EXPECT_EQ(must_parse({"quote", "--server", "http://h:2"}, variables).value("server"), "http://h:2");
}

TEST(CommandLine, NamesTheNearestKnownNameOfAnUnknownOne) {
    EXPECT_THAT(error_of({"asign", "x"}), HasSubstr("'assign'"));
    EXPECT_THAT(error_of({"slot", "gte", "x"}), HasSubstr("'get'"));
    EXPECT_THAT(error_of({"serve", "--lisen", "x"}), HasSubstr("'--listen'"));
    EXPECT_THAT(error_of({"--versoin"}), HasSubstr("'--version'"));
    EXPECT_THAT(error_of({"assign", "x", "--output", "jsn"}), HasSubstr("'json'"));
}

TEST(CommandLine, SaysWhatIsMissingOrTooMuch) {
    EXPECT_THAT(error_of({}), HasSubstr("command is missing"));
    EXPECT_THAT(error_of({"slot"}), HasSubstr("one more word"));
    EXPECT_THAT(error_of({"assign"}), HasSubstr("EVENT_ID is required"));
    EXPECT_THAT(error_of({"slot", "move", "x"}), HasSubstr("--at is required"));
    EXPECT_THAT(error_of({"assign", "x", "--weight"}), HasSubstr("--weight takes one value"));
    EXPECT_THAT(error_of({"assign", "x", "--weight", "-1"}), ::testing::Ne("no error"));
    EXPECT_THAT(error_of({"assign", "x", "--weight", "1.5"}), HasSubstr("not a whole number"));
    EXPECT_THAT(error_of({"assign", "x", "--weight", "1", "--weight=2"}), HasSubstr("given twice"));
    EXPECT_THAT(error_of({"assign", "a", "b"}), HasSubstr("b"));
}

TEST(CommandLine, RefusesCommandsThatThisVersionDoesNotHave) {
    for (const std::string& path : later_commands()) {
        EXPECT_EQ(error_of(split(path)), "'sluice " + path + "' is not supported by this version yet.");
    }
}

TEST(CommandLine, HasHelpWithAnExampleForEveryCommand) {
    for (const CommandSpec& command : command_table()) {
        Words words = split(command.path);
        words.emplace_back("--help");

        const std::string help = printed(words);

        EXPECT_THAT(help, HasSubstr("Usage: sluice " + command.path));
        EXPECT_THAT(help, HasSubstr("Example:\n  " + command.example)) << command.path;
        for (const OptionSpec& option : command.options) {
            EXPECT_EQ(help.find("--" + option.name + " ") != std::string::npos, !option.hidden)
                << option.name;
        }
    }
    EXPECT_THAT(printed({"--help"}), HasSubstr("serve"));
    EXPECT_THAT(printed({"slot", "-h"}), HasSubstr("cancel"));
    EXPECT_THAT(printed({"--version"}), ::testing::MatchesRegex("sluice [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(CommandLine, ParsesTheExampleOfEveryCommand) {
    for (const CommandSpec& command : command_table()) {
        Words words = split(command.example.substr(0, command.example.find(" > ")));
        words.erase(words.begin());

        EXPECT_EQ(must_parse(words).command->path, command.path);
    }
}

TEST(CommandTable, OffersJsonForEveryCommandThatAnswers) {
    const std::set<std::string> silent{"serve", "completion bash"};
    for (const CommandSpec& command : command_table()) {
        bool json = false;
        for (const OptionSpec& option : command.options) {
            json = json || option.name == "output";
        }
        EXPECT_EQ(json, !silent.contains(command.path)) << command.path;
    }
}

TEST(Completion, IsTheInstalledFile) {
    std::ifstream file{SLUICE_COMPLETION_FILE};
    std::ostringstream installed;
    installed << file.rdbuf();

    EXPECT_EQ(installed.str(), bash_completion()) << "sluice completion bash > src/main/sluice.bash";
}

TEST(Completion, KnowsEveryCommandAndOption) {
    const std::string text = bash_completion();

    for (const CommandSpec& command : command_table()) {
        const std::size_t line = text.find("'" + command.path + "') words='");
        ASSERT_NE(line, std::string::npos) << command.path;
        const std::string words = text.substr(line, text.find('\n', line) - line);
        for (const OptionSpec& option : command.options) {
            EXPECT_EQ(words.find("--" + option.name + " ") != std::string::npos, !option.hidden)
                << option.name;
        }
    }
}

TEST(HumanOutput, ShowsObjectsAsColumnsAndListsAsTables) {
    EXPECT_EQ(human_output(R"({"eventId":"pay-1","delayMs":371,"max":null})"),
              "eventId  pay-1\ndelayMs  371\nmax      -\n");
    EXPECT_EQ(human_output(R"({"versions":[{"a":1,"b":"x"},{"a":22,"c":true}]})"),
              "versions:\n  a   b  c\n  1   x  -\n  22  -  true\n");
    EXPECT_EQ(human_output("plain\x1b[31m"), "plain?[31m\n");
}

TEST(HumanOutput, SaysWhatAProblemIs) {
    EXPECT_EQ(problem_sentence(404, R"({"title":"Not Found","detail":"There is no slot."})"),
              "The server answered 404: Not Found: There is no slot.");
    EXPECT_EQ(problem_sentence(502, "<html>"), "The server answered 502.");
}

}  // namespace
}  // namespace sluice
