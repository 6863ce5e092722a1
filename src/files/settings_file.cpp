#include "files/settings_file.hpp"

#include <set>

#include "base/json_text.hpp"
#include "files/yaml_file_internal.hpp"

namespace sluice {
namespace {

// An alias may make a tree its own branch; no setting lies deeper than this.
constexpr int kDepthMax = 8;

std::string json_of(const YAML::Node& node, int depth = 0) {
    if (depth == kDepthMax || node.IsNull()) {
        return "null";
    }
    std::string json;
    if (node.IsSequence()) {
        for (const YAML::Node& item : node) {
            json += (json.empty() ? "" : ",") + json_of(item, depth + 1);
        }
        return "[" + json + "]";
    }
    if (node.IsMap()) {
        for (const auto& entry : node) {
            json += (json.empty() ? "" : ",") + json_of(entry.first, depth + 1) + ":" +
                    json_of(entry.second, depth + 1);
        }
        return "{" + json + "}";
    }
    return json_string(node.Scalar());
}

// Collects the leaves of a tree under their full keys.
class Flattening {
public:
    explicit Flattening(const std::string& path) : path_{path} {}

    Result<std::vector<FileEntry>, std::string> run(const YAML::Node& root) {
        if (root.IsNull()) {
            return std::vector<FileEntry>{};
        }
        if (!root.IsMap()) {
            return Unexpected{path_ + " is not a tree of keys and values."};
        }
        visit("", root);
        if (!error_.empty()) {
            return Unexpected{error_};
        }
        return std::move(entries_);
    }

private:
    void visit(const std::string& prefix, const YAML::Node& map, int depth = 0) {
        for (const auto& entry : map) {
            if (!entry.first.IsScalar() || depth == kDepthMax) {
                fail(entry.first, "has a key that is no plain word");
                return;
            }
            const std::string key = prefix + entry.first.Scalar();
            if (!seen_.insert(key).second) {
                fail(entry.first, "sets '" + key + "' twice");
                return;
            }
            if (entry.second.IsMap()) {
                visit(key + ".", entry.second, depth + 1);
                continue;
            }
            if (entry.second.IsNull()) {
                fail(entry.first, "gives '" + key + "' no value");
                return;
            }
            const bool single = entry.second.IsScalar();
            entries_.push_back({key, single ? entry.second.Scalar() : json_of(entry.second),
                                entry.first.Mark().line + 1, single});
        }
    }

    void fail(const YAML::Node& where, const std::string& what) {
        if (error_.empty()) {
            error_ = path_ + ", line " + std::to_string(where.Mark().line + 1) + ", " + what + ".";
        }
    }

    const std::string& path_;
    std::set<std::string> seen_;
    std::vector<FileEntry> entries_;
    std::string error_;
};

}  // namespace

Result<std::vector<FileEntry>, std::string> flattened(const YAML::Node& root, const std::string& path) {
    return Flattening{path}.run(root);
}

Result<std::vector<FileEntry>, std::string> read_settings_file(const std::string& path) {
    return read_yaml_file<std::vector<FileEntry>>(
        path, "settings file", [&](const YAML::Node& root) { return flattened(root, path); });
}

}  // namespace sluice
