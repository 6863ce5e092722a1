#pragma once

#include <map>
#include <span>
#include <string>
#include <variant>

#include "main/command_table.hpp"
#include "main/environment.hpp"

namespace sluice {

// A command with what was given to it.
struct Invocation {
    const CommandSpec* command = nullptr;
    std::map<std::string, std::string> values;  // By the option's name. Flags have "true".
    std::map<std::string, std::string> typed;   // Those of them that stood on the command line.
    // What was typed, one by one. Values may have commas themselves.
    std::map<std::string, std::vector<std::string>> lists{};

    [[nodiscard]] bool has(const std::string& name) const { return values.contains(name); }
    // Empty when it is missing.
    [[nodiscard]] std::string value(const std::string& name) const {
        const auto found = values.find(name);
        return found == values.end() ? std::string{} : found->second;
    }
    // Where the value came from, for errors: --server, or SLUICE_SERVER when that stood in for it.
    [[nodiscard]] std::string origin(const std::string& name) const;
    [[nodiscard]] bool wants_json() const { return value("output") == "json" || has("json"); }
};

// Help or the version: printed, and nothing more is to do.
struct Printed {
    std::string text;
};

// One sentence that says what is wrong, naming the nearest known word when one is unknown.
struct UsageError {
    std::string sentence;
};

// `words` are the arguments without the program's name. Variables stand in for options that name one.
std::variant<Invocation, Printed, UsageError> parse_command_line(std::span<const std::string> words,
                                                                 const Environment& variables);

}  // namespace sluice
