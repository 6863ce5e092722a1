#include "main/settings.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/nearest.hpp"
#include "files/settings_file.hpp"
#include "files/text_file.hpp"
#include "main/settings_check.hpp"

namespace sluice {
namespace {

using Entries = SettingEntries;
using Failure = Unexpected<std::string>;

constexpr std::string_view kPrefix = "SLUICE_";
constexpr std::string_view kConfigVariable = "SLUICE_CONFIG";
// Variables of other commands, and of the project's own tools.
constexpr std::array<std::string_view, 3> kForeign{kConfigVariable, "SLUICE_SERVER", "SLUICE_CA"};
constexpr std::array<std::string_view, 3> kForeignPrefixes{"SLUICE_TEST_", "SLUICE_SERVICES",
                                                           "SLUICE_CLIENT_"};

Failure not_supported(const std::string& name) {
    return Failure{name + " is not supported by this version yet."};
}

Failure unknown(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
    const std::string near = near_of(name, known);
    return Failure{what + " '" + name + "' is unknown; " +
                   (near.empty() ? "'sluice serve --print-config' lists all there are."
                                 : "the nearest known one is '" + near + "'.")};
}

Result<std::string, std::string> first_line(const std::string& variable, const std::string& path) {
    auto line = read_first_line(path);
    if (!line) {
        return Failure{"The file " + path + " that " + variable + " names cannot be read: " + line.error() +
                       "."};
    }
    return line;
}

Result<void, std::string> apply_file(const std::string& path, Entries& entries) {
    const auto read = read_settings_file(path);
    if (!read) {
        return Failure{read.error()};
    }
    for (const FileEntry& entry : *read) {
        const std::string origin = path + ", line " + std::to_string(entry.line);
        const SettingSpec* spec = find_setting(entry.key);
        if (spec == nullptr) {
            std::vector<std::string> known;
            for (const SettingSpec& setting : settings_table()) {
                known.emplace_back(setting.key);
            }
            return unknown(origin + ": the key", entry.key, known);
        }
        if (spec->support == Support::Later) {
            return not_supported(origin + ": the key '" + entry.key + "'");
        }
        if (!entry.single && spec->form == Form::Single) {
            return Failure{origin + ": '" + entry.key + "' takes one value, not a list."};
        }
        entries.insert_or_assign(spec->key, SettingInForce{spec, entry.value, origin, true});
    }
    return {};
}

bool is_ours(std::string_view variable) {
    return variable.starts_with(kPrefix) &&
           std::none_of(kForeignPrefixes.begin(), kForeignPrefixes.end(),
                        [&](std::string_view prefix) { return variable.starts_with(prefix); }) &&
           std::find(kForeign.begin(), kForeign.end(), variable) == kForeign.end();
}

Result<void, std::string> apply_variable(const std::string& name, const std::string& text, Entries& entries) {
    std::vector<std::string> known{std::string{kConfigVariable}};
    for (const SettingSpec& spec : settings_table()) {
        known.push_back(spec.variable());
        if (name != spec.variable() && name != spec.file_variable()) {
            continue;
        }
        if (spec.support == Support::Later) {
            return not_supported(name);
        }
        auto value =
            name == spec.variable() ? Result<std::string, std::string>{text} : first_line(name, text);
        if (!value) {
            return Failure{value.error()};
        }
        entries.insert_or_assign(spec.key, SettingInForce{&spec, *value, name, true});
        return {};
    }
    return unknown("The variable", name, known);
}

Result<void, std::string> apply_variables(const Environment& variables, Entries& entries) {
    for (const auto& [name, text] : variables) {
        if (!is_ours(name) || text.empty()) {
            continue;
        }
        if (const auto applied = apply_variable(name, text, entries); !applied) {
            return Failure{applied.error()};
        }
    }
    const auto is_set = [&variables](const std::string& name) {
        const auto found = variables.find(name);
        return found != variables.end() && !found->second.empty();
    };
    for (const SettingSpec& spec : settings_table()) {
        const std::string from_file = spec.file_variable();
        if (is_set(from_file) && is_set(spec.variable())) {
            return Failure{spec.variable() + " and " + from_file + " are both set; set one of them."};
        }
    }
    return {};
}

Result<void, std::string> apply_flags(const FlagValues& flags, Entries& entries) {
    for (const SettingSpec& spec : settings_table()) {
        const std::string flag = spec.flag();
        const auto found = flag.empty() ? flags.end() : flags.find(flag.substr(2));
        if (found == flags.end()) {
            continue;
        }
        if (spec.support == Support::Later) {
            return not_supported(flag);
        }
        entries.insert_or_assign(spec.key, SettingInForce{&spec, found->second, flag, true});
    }
    return {};
}

Entries defaults() {
    Entries entries;
    for (const SettingSpec& spec : settings_table()) {
        if (spec.support == Support::Built) {
            entries.emplace(spec.key, SettingInForce{&spec, std::string{spec.default_value}, "default",
                                                     !spec.default_value.empty()});
        }
    }
    return entries;
}

std::string settings_path(const FlagValues& flags, const Environment& variables) {
    if (const auto flag = flags.find("config"); flag != flags.end()) {
        return flag->second;
    }
    const auto variable = variables.find(std::string{kConfigVariable});
    return variable == variables.end() ? std::string{} : variable->second;
}

}  // namespace

Result<SettingsInForce, std::string> load_settings(const FlagValues& flags, const Environment& variables) {
    Entries entries = defaults();
    if (const std::string path = settings_path(flags, variables); !path.empty()) {
        if (const auto applied = apply_file(path, entries); !applied) {
            return Failure{applied.error()};
        }
    }
    if (const auto applied = apply_variables(variables, entries); !applied) {
        return Failure{applied.error()};
    }
    if (const auto applied = apply_flags(flags, entries); !applied) {
        return Failure{applied.error()};
    }
    auto settings = check_settings(entries);
    if (!settings) {
        return Failure{settings.error()};
    }
    SettingsInForce in_force{std::move(*settings), {}};
    for (const SettingSpec& spec : settings_table()) {
        if (const auto found = entries.find(spec.key); found != entries.end()) {
            in_force.entries.push_back(found->second);
        }
    }
    return in_force;
}

}  // namespace sluice
