#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

enum class ValueKind { Text, WholeNumber, TimeSpan, Choice, Flag };

// One thing that can follow a command: `--weight N`, or a word without dashes such as EVENT_ID.
struct OptionSpec {
    std::string name;        // Without dashes; in capitals when it is a word.
    std::string value_name;  // What --help shows in its place; empty for flags.
    std::string help;
    ValueKind kind = ValueKind::Text;
    bool required = false;
    std::string default_value{};         // Empty: none.
    std::vector<std::string> choices{};  // All there are for a Choice; otherwise what completion offers.
    std::string variable{};              // Stands in when the option is missing; empty: none.
    bool hidden = false;                 // Known, but not offered.
    bool repeatable = false;             // May be given several times; the values are joined by commas.
};

struct CommandSpec {
    std::string path;  // As typed: "slot get".
    std::string summary;
    std::string example;
    std::vector<OptionSpec> words;  // In order.
    std::vector<OptionSpec> options;
};

// A first word that only groups commands: "slot".
struct CommandFamily {
    std::string name;
    std::string summary;
};

// Every command of this version, in the order of --help.
const std::vector<CommandSpec>& command_table();
const std::vector<CommandFamily>& command_families();

// Commands of the contract that this version does not have.
const std::vector<std::string>& later_commands();

// The completion files: commands, options and their choices.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace sluice
