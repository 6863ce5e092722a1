#include <set>

#include "main/command_table.hpp"

namespace sluice {
namespace {

// zsh has a variable `words` of its own, so ours is `offered`.
std::string case_line(const std::string& pattern, const std::string& words) {
    return "        '" + pattern + "') offered='" + words + "' ;;\n";
}

std::string command_cases() {
    std::string top;
    std::set<std::string> seen;
    for (const CommandSpec& command : command_table()) {
        const std::string first = command.path.substr(0, command.path.find(' '));
        top += seen.insert(first).second ? first + " " : "";
    }
    std::string cases = case_line("", top + "--help --version");
    for (const CommandFamily& family : command_families()) {
        std::string words;
        for (const CommandSpec& command : command_table()) {
            if (command.path.starts_with(family.name + " ")) {
                words += command.path.substr(family.name.size() + 1) + " ";
            }
        }
        cases += case_line(family.name, words + "--help");
    }
    for (const CommandSpec& command : command_table()) {
        std::string words;
        for (const OptionSpec& option : command.options) {
            words += option.hidden ? "" : "--" + option.name + " ";
        }
        cases += case_line(command.path, words + "--help");
    }
    return cases;
}

// What may follow an option: its choices, a file, or something that only the user knows.
std::string action_of(const OptionSpec& option) {
    std::string choices;
    for (const std::string& choice : option.choices) {
        choices += " " + choice;
    }
    return !choices.empty()              ? "compadd --" + choices + "; "
           : option.value_name == "DIR"  ? "_directories; "
           : option.value_name == "FILE" ? "_files; "
                                         : "";
}

std::string option_cases() {
    std::set<std::string> done;
    std::string cases;
    for (const CommandSpec& command : command_table()) {
        for (const OptionSpec& option : command.options) {
            if (!option.hidden && option.kind != ValueKind::Flag && done.insert(option.name).second) {
                cases += "        --" + option.name + ") " + action_of(option) + "return ;;\n";
            }
        }
    }
    return cases;
}

std::string family_pattern() {
    std::string names;
    for (const CommandFamily& family : command_families()) {
        names += (names.empty() ? "" : " | ") + family.name;
    }
    return names;
}

}  // namespace

std::string zsh_completion() {
    return "#compdef sluice\n"
           "# Completion of sluice for zsh, as `sluice completion zsh` prints it.\n"
           "_sluice() {\n"
           "    local word offered command=''\n"
           "    case ${words[CURRENT - 1]} in\n" +
           option_cases() +
           "    esac\n"
           "    for word in \"${(@)words[2,CURRENT - 1]}\"; do\n"
           "        case $command in\n"
           "            '') if [[ $word != -* ]]; then command=$word; fi ;;\n"
           "            " +
           family_pattern() +
           ") if [[ $word != -* ]]; then command+=\" $word\"; fi ;;\n"
           "        esac\n"
           "    done\n"
           "    case $command in\n" +
           command_cases() +
           "        *) offered='' ;;\n"
           "    esac\n"
           "    compadd -- ${=offered}\n"
           "    if [[ $command == batch ]]; then _files; fi\n"
           "}\n"
           "if [[ $funcstack[1] == _sluice ]]; then _sluice \"$@\"; else compdef _sluice sluice; fi\n";
}

}  // namespace sluice
