#include "main/command_table.hpp"

namespace sluice {
namespace {

std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char letter : text) {
        result += letter == '\'' || letter == '\\' ? "\\" : "";
        result += letter;
    }
    return result + "'";
}

std::string seen(const std::string& words) { return "__fish_seen_subcommand_from " + words; }

// The second words of a family: "get cancel move".
std::string second_words(const CommandFamily& family) {
    std::string words;
    for (const CommandSpec& command : command_table()) {
        if (command.path.starts_with(family.name + " ")) {
            words += (words.empty() ? "" : " ") + command.path.substr(family.name.size() + 1);
        }
    }
    return words;
}

std::string family_names() {
    std::string names;
    for (const CommandFamily& family : command_families()) {
        names += (names.empty() ? "" : " ") + family.name;
    }
    return names;
}

// When the words before the cursor name this command.
std::string condition_of(const CommandSpec& command) {
    const std::size_t space = command.path.find(' ');
    return space == std::string::npos
               ? seen(command.path) + "; and not " + seen(family_names())
               : seen(command.path.substr(0, space)) + "; and " + seen(command.path.substr(space + 1));
}

std::string line(const std::string& condition, const std::string& what, const std::string& help) {
    return "complete -c sluice -n " + quoted(condition) + " " + what + " -d " + quoted(help) + "\n";
}

std::string option_lines(const CommandSpec& command) {
    std::string lines;
    for (const OptionSpec& option : command.options) {
        if (option.hidden) {
            continue;
        }
        const bool file = option.value_name == "FILE" || option.value_name == "DIR";
        std::string what = "-l " + option.name;
        // -x: a value that is no file; -r: a file.
        what += option.kind == ValueKind::Flag ? "" : file ? " -r" : " -x";
        std::string choices;
        for (const std::string& choice : option.choices) {
            choices += (choices.empty() ? "" : " ") + choice;
        }
        what += choices.empty() ? "" : " -a " + quoted(choices);
        lines += line(condition_of(command), what, option.help);
    }
    return lines;
}

}  // namespace

std::string fish_completion() {
    std::string text =
        "# Completion of sluice for fish, as `sluice completion fish` prints it.\n"
        "complete -c sluice -f\n"
        "complete -c sluice -l help -s h -d 'Print help and exit'\n";
    for (const CommandFamily& family : command_families()) {
        text += line("__fish_use_subcommand", "-a " + family.name, family.summary);
    }
    for (const CommandSpec& command : command_table()) {
        if (command.path.find(' ') == std::string::npos) {
            text += line("__fish_use_subcommand", "-a " + command.path, command.summary);
        }
    }
    for (const CommandFamily& family : command_families()) {
        const std::string open = seen(family.name) + "; and not " + seen(second_words(family));
        for (const CommandSpec& command : command_table()) {
            if (command.path.starts_with(family.name + " ")) {
                text += line(open, "-a " + command.path.substr(family.name.size() + 1), command.summary);
            }
        }
    }
    for (const CommandSpec& command : command_table()) {
        text += option_lines(command);
    }
    return text + "complete -c sluice -n '" + seen("batch") + "' -F\n";
}

}  // namespace sluice
