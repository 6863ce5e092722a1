#include <set>

#include "main/command_table.hpp"

namespace sluice {
namespace {

std::string case_line(const std::string& pattern, const std::string& words) {
    return "        '" + pattern + "') words='" + words + "' ;;\n";
}

// Which words may follow each command or group.
std::string command_cases() {
    std::string top;
    std::set<std::string> groups;
    for (const CommandSpec& command : command_table()) {
        const std::string first = command.path.substr(0, command.path.find(' '));
        if (first == command.path || groups.insert(first).second) {
            top += first + " ";
        }
    }
    std::string cases = case_line("", top + "--help --version");
    for (const CommandFamily& group : command_families()) {
        std::string words;
        for (const CommandSpec& command : command_table()) {
            if (command.path.starts_with(group.name + " ")) {
                words += command.path.substr(group.name.size() + 1) + " ";
            }
        }
        cases += case_line(group.name, words + "--help");
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

// What may follow an option: its choices, or a file.
std::string option_cases() {
    std::set<std::string> done;
    std::string cases;
    for (const CommandSpec& command : command_table()) {
        for (const OptionSpec& option : command.options) {
            std::string words;
            for (const std::string& choice : option.choices) {
                words += (words.empty() ? "" : " ") + choice;
            }
            const bool file = option.value_name == "FILE" || option.value_name == "DIR";
            if (option.hidden || option.kind == ValueKind::Flag || !done.insert(option.name).second) {
                continue;
            }
            const std::string action = !words.empty()               ? "-W '" + words + "'"
                                       : option.value_name == "DIR" ? "-d"
                                       : file                       ? "-f"
                                                                    : "";
            cases += "        --" + option.name + ") ";
            cases += action.empty()
                         ? "COMPREPLY=(); return ;;\n"
                         : "mapfile -t COMPREPLY < <(compgen " + action + " -- \"$current\"); return ;;\n";
        }
    }
    return cases;
}

}  // namespace

std::string bash_completion() {
    return "# Completion of sluice for bash, as `sluice completion bash` prints it.\n"
           "_sluice() {\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words word "
           "command=''\n"
           "    case $previous in\n" +
           option_cases() +
           "    esac\n"
           "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
           "        case $command in\n"
           "            '') if [[ $word != -* ]]; then command=$word; fi ;;\n" +
           [] {
               std::string names;
               for (const CommandFamily& group : command_families()) {
                   names += (names.empty() ? "" : " | ") + group.name;
               }
               return "            " + names;
           }() +
           ") if [[ $word != -* ]]; then command+=\" $word\"; fi ;;\n"
           "        esac\n"
           "    done\n"
           "    case $command in\n" +
           command_cases() +
           "        *) words='' ;;\n"
           "    esac\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
           "}\n"
           "complete -F _sluice sluice\n";
}

}  // namespace sluice
