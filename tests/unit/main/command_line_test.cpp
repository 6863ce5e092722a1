#include "main/command_line.hpp"

#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>

#include "main/human_output.hpp"
#include "main/windows_command.hpp"

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

TEST(CommandLine, SuggestsNothingWhenNothingIsNear) {
    EXPECT_EQ(error_of({"frobnicate"}), "The command 'frobnicate' is unknown; 'sluice --help' lists them.");
    EXPECT_EQ(error_of({"slot", "frobnicate"}),
              "The command 'frobnicate' is unknown; 'sluice slot --help' lists them.");
    EXPECT_EQ(error_of({"assign", "x", "--frobnicate"}),
              "The option '--frobnicate' is unknown; 'sluice assign --help' lists them.");
    EXPECT_EQ(error_of({"assign", "x", "--output", "spaghetti"}),
              "The value of --output, 'spaghetti', is none of: 'text', 'json'.");
}

TEST(CommandLine, TakesDurationsAsPeopleWriteThem) {
    const auto size = [](const std::string& text) {
        return must_parse({"config", "set", "a", "--max-per-window", "1", "--window-size", text})
            .value("window-size");
    };
    EXPECT_EQ(size("4s"), "PT4S");
    EXPECT_EQ(size("500ms"), "PT0.5S");
    EXPECT_EQ(size("2m"), "PT2M");
    EXPECT_EQ(size("1h"), "PT1H");
    EXPECT_EQ(size("PT4S"), "PT4S");
    EXPECT_EQ(error_of({"config", "set", "a", "--max-per-window", "1", "--window-size", "4 sec"}),
              "--window-size: '4 sec' is not a duration like 5s, 500ms, 2m, 1h or PT5S, at most 31 days.");
}

TEST(CommandLine, NamesTheVariableWhereItWasTheVariable) {
    const Environment variables{{"SLUICE_SERVER", "h:1"}, {"SLUICE_TOKEN_FILE", "t"}};
    const Invocation by_variable = must_parse({"config", "get"}, variables);
    const Invocation by_flag = must_parse({"config", "get", "--server", "h:2"}, variables);

    EXPECT_EQ(by_variable.origin("server"), "SLUICE_SERVER");
    EXPECT_EQ(by_variable.origin("token-file"), "SLUICE_TOKEN_FILE");
    EXPECT_EQ(by_flag.origin("server"), "--server");
    EXPECT_EQ(must_parse({"config", "get"}).origin("output"), "--output");
}

TEST(CommandLine, KnowsHelpAndVersionAsCommands) {
    EXPECT_EQ(printed({"help"}), printed({"--help"}));
    EXPECT_EQ(printed({"help", "slot", "move"}), printed({"slot", "move", "--help"}));
    EXPECT_EQ(printed({"help", "slot"}), printed({"slot", "--help"}));
    EXPECT_THAT(error_of({"help", "frobnicate"}), HasSubstr("'frobnicate' is unknown"));
    EXPECT_EQ(must_parse({"version"}).command->path, "version");
}

TEST(CommandLine, SaysWhatIsMissingOrTooMuch) {
    EXPECT_THAT(error_of({}), HasSubstr("command is missing"));
    EXPECT_THAT(error_of({"slot"}), HasSubstr("one more word"));
    EXPECT_EQ(error_of({"assign"}), "EVENT_ID is required; 'sluice assign --help' has an example.");
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

        if (command.path == "help") {
            EXPECT_NE(printed(words), "nothing");
            continue;
        }
        EXPECT_EQ(must_parse(words).command->path, command.path);
    }
}

TEST(CommandTable, OffersJsonForEveryCommandThatAnswers) {
    const std::set<std::string> silent{"serve",           "sender",         "help",
                                       "completion bash", "completion zsh", "completion fish"};
    for (const CommandSpec& command : command_table()) {
        bool json = false;
        for (const OptionSpec& option : command.options) {
            json = json || option.name == "output";
        }
        EXPECT_EQ(json, !silent.contains(command.path)) << command.path;
    }
}

std::string installed(const std::string& shell) {
    std::ifstream file{SLUICE_COMPLETION_FILES + shell};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

TEST(Completion, IsTheInstalledFile) {
    EXPECT_EQ(installed("bash"), bash_completion()) << "sluice completion bash > src/main/sluice.bash";
    EXPECT_EQ(installed("zsh"), zsh_completion()) << "sluice completion zsh > src/main/sluice.zsh";
    EXPECT_EQ(installed("fish"), fish_completion()) << "sluice completion fish > src/main/sluice.fish";
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

TEST(Completion, KnowsEveryCommandAndOptionInFish) {
    const std::string text = fish_completion();

    for (const CommandSpec& command : command_table()) {
        for (const OptionSpec& option : command.options) {
            if (!option.hidden) {
                EXPECT_THAT(text, HasSubstr(" -l " + option.name)) << option.name;
            }
        }
        EXPECT_THAT(text, HasSubstr("-a " + command.path.substr(command.path.find(' ') + 1) + " -d '"));
    }
}

TEST(WindowBars, ShowHowFullEachWindowIs) {
    const std::string text =
        window_bars(R"({"windows":[{"start":"2030-01-01T09:00:00.000Z","count":0,"max":80},)"
                    R"({"start":"2030-01-01T09:00:04.000Z","count":1,"max":80},)"
                    R"({"start":"2030-01-01T09:00:08.000Z","count":79,"max":80},)"
                    R"({"start":"2030-01-01T09:00:12.000Z","count":90,"max":80}]})");

    EXPECT_EQ(text, "2030-01-01T09:00:00.000Z  [" + std::string(40, ' ') + "] 0 of 80\n" +
                        "2030-01-01T09:00:04.000Z  [#" + std::string(39, ' ') + "] 1 of 80\n" +
                        "2030-01-01T09:00:08.000Z  [" + std::string(39, '#') + " ] 79 of 80\n" +
                        "2030-01-01T09:00:12.000Z  [" + std::string(40, '#') + "] 90 of 80\n");
    EXPECT_EQ(window_bars("nonsense"), "nonsense\n");
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
    EXPECT_EQ(problem_sentence(400, R"({"title":"Bad Request","detail":"Did you mean weight?"})"),
              "The server answered 400: Bad Request: Did you mean weight?");
    EXPECT_THAT(problem_sentence(401, R"({"title":"Unauthorized","detail":"No."})"),
                HasSubstr("No. --token-file or SLUICE_TOKEN_FILE gives"));
    EXPECT_EQ(problem_sentence(502, "<html>"), "The server answered 502.");
}

}  // namespace
}  // namespace sluice
