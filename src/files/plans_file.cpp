#include "files/plans_file.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/nearest.hpp"
#include "files/yaml_file_internal.hpp"

namespace sluice {
namespace {

const std::vector<std::string> kKeys{"name",  "algorithm", "capacity", "refill",       "window",
                                     "start", "cooldown",  "lease",    "max_per_hour", "on_store_failure",
                                     "shadow"};

std::optional<Tokens> whole_number(const std::string& text) {
    Tokens number = 0;
    const char* const end = text.data() + text.size();
    const auto [behind, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && behind == end ? std::optional{number} : std::nullopt;
}

std::string* text_field(PlanDraft& draft, const std::string& key) {
    if (key == "name") {
        return &draft.name;
    }
    if (key == "algorithm") {
        return &draft.algorithm;
    }
    if (key == "refill") {
        return &draft.refill;
    }
    if (key == "window") {
        return &draft.window;
    }
    if (key == "start") {
        return &draft.start;
    }
    if (key == "cooldown") {
        return &draft.cooldown;
    }
    return key == "on_store_failure" ? &draft.on_store_failure : nullptr;
}

// What is wrong with one entry; the caller says where it stands.
class PlanReader {
public:
    Result<PlanDraft, std::string> read(const YAML::Node& node) {
        if (!node.IsMap()) {
            return Unexpected{std::string{"is no tree of keys and values"}};
        }
        for (const auto& field : node) {
            if (const std::string wrong = take(field.first, field.second); !wrong.empty()) {
                return Unexpected{wrong};
            }
        }
        return draft_.name.empty() ? Result<PlanDraft, std::string>{Unexpected{std::string{"has no name"}}}
                                   : draft_;
    }

    [[nodiscard]] const std::string& name() const { return draft_.name; }

private:
    std::string take(const YAML::Node& key_node, const YAML::Node& value) {
        const std::string key = key_node.IsScalar() ? key_node.Scalar() : "";
        if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
            const std::string near = near_of(key, kKeys);
            return "has an unknown key '" + key + "'" +
                   (near.empty() ? "" : "; the nearest known one is '" + near + "'");
        }
        if (!seen_.insert(key).second) {
            return "has the key '" + key + "' twice";
        }
        if (!value.IsScalar()) {
            return "gives '" + key + "' no single value";
        }
        return set(key, value.Scalar());
    }

    std::string set(const std::string& key, const std::string& value) {
        if (key == "shadow") {
            draft_.shadow = value == "true";
            return value == "true" || value == "false" ? "" : "has a shadow that is neither true nor false";
        }
        if (std::string* text = text_field(draft_, key)) {
            *text = value;
            return value.empty() ? "gives '" + key + "' no value" : "";
        }
        const auto number = whole_number(value);
        (key == "capacity" ? draft_.capacity : key == "lease" ? draft_.lease : draft_.max_per_hour) = number;
        return number ? "" : "has a " + key + " that is no whole number: '" + value + "'";
    }

    PlanDraft draft_;
    std::set<std::string> seen_;
};

// What is wrong with the file as a whole. Empty: nothing.
std::string wrong_shape(const YAML::Node& root) {
    if (!root.IsMap()) {
        return "it must hold one list, 'plans:'";
    }
    for (const auto& field : root) {
        if (field.first.IsScalar() && field.first.Scalar() != "plans") {
            return "the key '" + field.first.Scalar() + "' is unknown; the nearest known one is 'plans'";
        }
    }
    const bool is_one_list = root.size() == 1 && root["plans"] && root["plans"].IsSequence();
    return is_one_list ? "" : "it must hold one list, 'plans:'";
}

}  // namespace

Result<std::vector<PlanDraft>, std::string> plans_of(const YAML::Node& list, const std::string& path) {
    const auto refused = [&](const std::string& why) { return Unexpected{path + ": " + why + "."}; };
    std::vector<PlanDraft> drafts;
    for (const YAML::Node& node : list) {
        PlanReader reader;
        auto draft = reader.read(node);
        if (!draft) {
            const std::string which = reader.name().empty() ? "the plan" : "plan '" + reader.name() + "'";
            return refused(which + " at line " + std::to_string(node.Mark().line + 1) + " " + draft.error());
        }
        drafts.push_back(*std::move(draft));
    }
    return drafts;
}

Result<std::vector<PlanDraft>, std::string> read_plans_file(const std::string& path) {
    using Drafts = std::vector<PlanDraft>;
    return read_yaml_file<Drafts>(
        path, "plans file", [&](const YAML::Node& root) -> Result<Drafts, std::string> {
            const std::string wrong = wrong_shape(root);
            return wrong.empty() ? plans_of(root["plans"], path) : Unexpected{path + ": " + wrong + "."};
        });
}

Result<void, std::string> load_plans_file(const std::string& path, PlanBook& book) {
    const auto drafts = read_plans_file(path);
    if (!drafts) {
        return Unexpected{drafts.error()};
    }
    const auto loaded = book.load(*drafts);
    return loaded ? Result<void, std::string>{} : Unexpected{path + ": " + loaded.error().what + "."};
}

}  // namespace sluice
