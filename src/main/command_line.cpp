#include "main/command_line.hpp"

#include <algorithm>
#include <set>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "base/iso8601.hpp"
#include "base/nearest.hpp"
#include "files/setting_values.hpp"
#include "main/version.hpp"

namespace sluice {
namespace {

using Words = std::span<const std::string>;

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

// `list` is the command that prints all names there are.
std::string did_you_mean(const std::string& what, const std::string& word,
                         const std::vector<std::string>& known, const std::string& list) {
    const std::string near = near_of(word, known);
    return what + " '" + word + "' is unknown; " +
           (near.empty() ? "'" + list + "' lists them." : "the nearest known one is '" + near + "'.");
}

// The names that may come after `prefix`, which is empty or a group.
std::vector<std::string> names_after(const std::string& prefix) {
    std::vector<std::string> names;
    for (const CommandSpec& command : command_table()) {
        if (prefix.empty()) {
            names.push_back(command.path.substr(0, command.path.find(' ')));
        } else if (command.path.starts_with(prefix + " ")) {
            names.push_back(command.path.substr(prefix.size() + 1));
        }
    }
    return names;
}

std::string help_for(const std::string& path) {
    return "sluice " + (path.empty() ? "" : path + " ") + "--help";
}

const CommandSpec* find_command(const std::string& path) {
    const auto& table = command_table();
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const auto& spec) { return spec.path == path; });
    return found == table.end() ? nullptr : &*found;
}

// Looks at the names before the values are read, because only we know which name was meant.
class NameCheck {
public:
    explicit NameCheck(Words words) : words_{words} {}

    // Empty when every name is known.
    std::string run() {
        if (words_.empty()) {
            return "A command is missing; 'sluice help' lists them.";
        }
        std::size_t next = 0;
        std::string path;
        const CommandSpec* command = nullptr;
        while (command == nullptr && next < words_.size() && !is_option(words_[next])) {
            const std::string longer = path.empty() ? words_[next] : path + " " + words_[next];
            const auto& later = later_commands();
            if (std::find(later.begin(), later.end(), longer) != later.end()) {
                return "'sluice " + longer + "' is not supported by this version yet.";
            }
            command = find_command(longer);
            if (command == nullptr && names_after(longer).empty()) {
                return did_you_mean("The command", words_[next], names_after(path), help_for(path));
            }
            path = longer;
            ++next;
        }
        return check_options(command, path, words_.subspan(next));
    }

private:
    static std::string check_options(const CommandSpec* command, const std::string& path, Words rest) {
        std::vector<std::string> known{"--help"};
        std::set<std::string> repeatable;
        if (path.empty()) {
            known.emplace_back("--version");
        }
        for (const OptionSpec& option : command == nullptr ? std::vector<OptionSpec>{} : command->options) {
            known.push_back("--" + option.name);
            if (option.repeatable) {
                repeatable.insert(known.back());
            }
        }
        std::set<std::string> seen;
        for (const std::string& word : rest) {
            if (word == "--") {
                break;
            }
            const std::string name = word.substr(0, word.find('='));
            if (!is_option(word) || word == "-h") {
                continue;
            }
            if (std::find(known.begin(), known.end(), name) == known.end()) {
                return did_you_mean("The option", name, known, help_for(path));
            }
            if (!seen.insert(name).second && !repeatable.contains(name)) {
                return "The option '" + name + "' is given twice.";
            }
        }
        const bool help = seen.contains("--help") || std::find(rest.begin(), rest.end(), "-h") != rest.end();
        if (command == nullptr && !path.empty() && !help) {
            return "'sluice " + path + "' needs one more word; 'sluice " + path + " --help' lists them.";
        }
        return {};
    }

    Words words_;
};

// The table as CLI11 knows it. Values are kept as text; their meaning is checked where they are used.
class Parser {
public:
    Parser() : app_{"Sluice paces work: durable slots under a hard cap, and limits.", "sluice"} {
        app_.require_subcommand(1);
        app_.set_version_flag("--version", "sluice " + std::string{version()});
        describe(app_,
                 "'sluice help COMMAND' explains one of them.\n\nExample:\n  sluice serve --data ./data");
        std::map<std::string, CLI::App*> groups;
        for (const CommandSpec& command : command_table()) {
            add(command, groups);
        }
    }

    // May throw CLI::ParseError.
    Invocation parse(Words words) {
        std::vector<std::string> reversed{words.rbegin(), words.rend()};
        app_.parse(std::move(reversed));
        Invocation invocation;
        for (const auto& [command, parsed] : commands_) {
            if (!parsed->parsed()) {
                continue;
            }
            invocation.command = command;
            for (const CLI::Option* option : parsed->get_options()) {
                const std::string name = option->get_single_name();
                if (option->count() > 0 && name != "help") {
                    invocation.typed.emplace(name, joined(option->results()));
                    invocation.lists.emplace(name, option->results());
                }
            }
        }
        invocation.values = invocation.typed;
        return invocation;
    }

    static std::string joined(const std::vector<std::string>& values) {
        std::string text;
        for (const std::string& value : values) {
            text += (text.empty() ? "" : ",") + value;
        }
        return text;
    }

    // What --help prints after the words that were parsed so far.
    std::string help() const { return app_.help(); }

private:
    static void describe(CLI::App& app, const std::string& footer) {
        app.set_help_flag("-h,--help", "Print this and exit");
        app.get_formatter()->column_width(32);
        app.footer("\n" + footer);
    }

    void add(const CommandSpec& command, std::map<std::string, CLI::App*>& groups) {
        CLI::App* parent = &app_;
        std::string name = command.path;
        if (const std::size_t space = name.find(' '); space != std::string::npos) {
            parent = group(name.substr(0, space), groups);
            name = name.substr(space + 1);
        }
        CLI::App* sub = parent->add_subcommand(name, command.summary);
        describe(*sub, "Example:\n  " + command.example);
        for (const OptionSpec& word : command.words) {
            CLI::Option* added = sub->add_option(word.name, word.help);
            added->required(word.required)->type_name("");
            if (word.repeatable) {
                added->expected(1, -1)->allow_extra_args(true);
            }
        }
        for (const OptionSpec& option : command.options) {
            add(*sub, option);
        }
        commands_.emplace_back(&command, sub);
    }

    CLI::App* group(const std::string& name, std::map<std::string, CLI::App*>& groups) {
        CLI::App*& found = groups[name];
        if (found == nullptr) {
            const auto& all = command_families();
            const auto spec =
                std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
            found = app_.add_subcommand(name, spec->summary);
            found->require_subcommand(1);
            describe(*found, "'sluice " + name + " COMMAND --help' has an example of each.");
        }
        return found;
    }

    void add(CLI::App& sub, const OptionSpec& option) {
        // Constant, because CLI11 takes a string that could change for the place of the value.
        const std::string help = option.help +
                                 (option.default_value.empty() ? "" : " [" + option.default_value + "]") +
                                 (option.variable.empty() ? "" : " (or " + option.variable + ")");
        const std::string name = "--" + option.name;
        CLI::Option* added = nullptr;
        if (option.kind == ValueKind::Flag) {
            added = sub.add_flag(name, ignored_, help);
        } else {
            added = sub.add_option(name, help)->type_name(option.value_name);
        }
        if (option.repeatable) {
            added->expected(1, -1)->allow_extra_args(false);
        }
        added->required(option.required);
        if (option.hidden) {
            added->group("");
        }
    }

    CLI::App app_;
    bool ignored_ = false;  // Where CLI11 puts flags; they are read from its results.
    std::vector<std::pair<const CommandSpec*, CLI::App*>> commands_;
};

// Empty when the value is good. A duration is turned into the form of the wire. `origin` is named in errors.
std::string check_value(const OptionSpec& option, const std::string& origin, std::string& value) {
    const auto& choices = option.choices;
    if (option.kind == ValueKind::Choice &&
        std::find(choices.begin(), choices.end(), value) == choices.end()) {
        std::string listed;
        for (const std::string& choice : choices) {
            listed += (listed.empty() ? "'" : ", '") + choice + "'";
        }
        return "The value of " + origin + ", '" + value + "', is none of: " + listed + ".";
    }
    constexpr std::size_t kDigitsMax = 18;
    const bool digits = !value.empty() && value.size() <= kDigitsMax &&
                        value.find_first_not_of("0123456789") == std::string::npos;
    if (option.kind == ValueKind::WholeNumber && !digits) {
        return "The value of " + origin + ", '" + value + "', is not a whole number.";
    }
    if (option.kind == ValueKind::TimeSpan) {
        const auto duration = duration_setting(value);
        if (!duration) {
            return origin + ": " + duration.error();
        }
        value = format_duration(*duration);
    }
    return {};
}

std::string complete_values(Invocation& invocation, const Environment& variables) {
    for (const OptionSpec& word : invocation.command->words) {
        const auto found = invocation.values.find(word.name);
        if (found != invocation.values.end() && word.kind != ValueKind::Text) {
            if (std::string error = check_value(word, word.name, found->second); !error.empty()) {
                return error;
            }
        }
    }
    for (const OptionSpec& option : invocation.command->options) {
        const auto variable = variables.find(option.variable);
        if (!invocation.has(option.name) && variable != variables.end() && !variable->second.empty()) {
            invocation.values[option.name] = variable->second;
        }
        if (!invocation.has(option.name) && !option.default_value.empty()) {
            invocation.values[option.name] = option.default_value;
        }
        if (const auto found = invocation.values.find(option.name); found != invocation.values.end()) {
            const std::string origin = invocation.origin(option.name);
            if (std::string error = check_value(option, origin, found->second); !error.empty()) {
                return error;
            }
        }
    }
    return {};
}

// The command that the first words name. Empty: none.
std::string named_command(Words words) {
    std::string path;
    for (const std::string& word : words) {
        path += (path.empty() ? "" : " ") + word;
        if (find_command(path) != nullptr) {
            return path;
        }
    }
    return {};
}

// `sluice help slot get` is `sluice slot get --help`.
std::vector<std::string> without_help_command(Words words) {
    std::vector<std::string> result{words.begin(), words.end()};
    if (!result.empty() && result.front() == "help" && (result.size() == 1 || !is_option(result[1]))) {
        result.erase(result.begin());
        result.emplace_back("--help");
    }
    return result;
}

}  // namespace

std::string Invocation::origin(const std::string& name) const {
    for (const OptionSpec& option : command->options) {
        if (option.name == name && !option.variable.empty() && !typed.contains(name)) {
            return option.variable;
        }
    }
    return "--" + name;
}

std::variant<Invocation, Printed, UsageError> parse_command_line(Words words, const Environment& variables) {
    const std::vector<std::string> meant = without_help_command(words);
    if (std::string error = NameCheck{meant}.run(); !error.empty()) {
        return UsageError{error};
    }
    Parser parser;
    try {
        Invocation invocation = parser.parse(meant);
        if (std::string error = complete_values(invocation, variables); !error.empty()) {
            return UsageError{error};
        }
        return invocation;
    } catch (const CLI::CallForHelp&) {
        return Printed{parser.help()};
    } catch (const CLI::CallForVersion& version) {
        return Printed{std::string{version.what()} + "\n"};
    } catch (const CLI::ArgumentMismatch& error) {
        const std::string text = error.what();
        return UsageError{"The option " + text.substr(0, text.find(':')) + " takes one value."};
    } catch (const CLI::ParseError& error) {
        return UsageError{std::string{error.what()} + "; '" + help_for(named_command(meant)) +
                          "' has an example."};
    }
}

}  // namespace sluice
