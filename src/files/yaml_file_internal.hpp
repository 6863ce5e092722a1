#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "base/result.hpp"
#include "core/limits/plan.hpp"
#include "files/settings_file.hpp"

namespace sluice {

// The bytes of a file that `what` names in errors, for example "plans file".
Result<std::string, std::string> text_of_file(const std::string& path, std::string_view what);

// Hands the root of a YAML file to `read`, whose result it returns. Fails with one sentence if the file
// cannot be read or is not YAML.
template <class T, class Read>
Result<T, std::string> read_yaml_file(const std::string& path, std::string_view what, Read read) {
    const auto text = text_of_file(path, what);
    if (!text) {
        return Unexpected{text.error()};
    }
    try {
        return read(YAML::Load(*text));
    } catch (const YAML::Exception& error) {
        return Unexpected{path + ", line " + std::to_string(error.mark.line + 1) +
                          ", is not YAML: " + error.msg + "."};
    }
}

// What read_settings_file() says of a file with this root.
Result<std::vector<FileEntry>, std::string> flattened(const YAML::Node& root, const std::string& path);

// The plans of a list. Fails as read_plans_file() does.
Result<std::vector<PlanDraft>, std::string> plans_of(const YAML::Node& list, const std::string& path);

}  // namespace sluice
