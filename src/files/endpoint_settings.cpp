#include "files/endpoint_settings.hpp"

#include <algorithm>
#include <set>

#include "base/json_text.hpp"
#include "base/nearest.hpp"
#include "files/setting_values.hpp"
#include "files/yaml_file_internal.hpp"

namespace sluice {
namespace {

using Failure = Unexpected<std::string>;

constexpr std::string_view kMask = "****";
constexpr std::string_view kFile = "file:";
constexpr Duration kTimeoutMax = std::chrono::minutes{10};
constexpr std::size_t kConcurrentMax = 10'000;
const std::vector<std::string> kKeys{"url", "secretFiles", "headers", "timeout", "maxConcurrent", "proxy"};

// Hands the text, which must be YAML, to `read`.
template <class T, class Read>
Result<T, std::string> read_yaml_text(const std::string& text, Read read) {
    try {
        return read(YAML::Load(text));
    } catch (const YAML::Exception& error) {
        return Failure{"it cannot be read: " + error.msg + "."};
    }
}

Result<std::vector<std::string>, std::string> texts_of(const YAML::Node& list) {
    std::vector<std::string> texts;
    for (const YAML::Node& item : list) {
        if (!item.IsScalar() || item.Scalar().empty()) {
            return Failure{"it takes a list of texts."};
        }
        texts.push_back(item.Scalar());
    }
    return texts;
}

// What is wrong with an entry is a sentence without its beginning.
class EndpointReader {
public:
    Result<EndpointSetting, std::string> read(const YAML::Node& node) {
        if (!node.IsMap()) {
            return Failure{"is no tree of keys and values"};
        }
        for (const auto& field : node) {
            if (const std::string wrong = take(field.first, field.second); !wrong.empty()) {
                return Failure{wrong};
            }
        }
        return endpoint_.url.empty() ? Result<EndpointSetting, std::string>{Failure{"has no url"}}
                                     : endpoint_;
    }

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
        if (key == "secretFiles") {
            return take_secret_files(value);
        }
        if (key == "headers") {
            return take_headers(value);
        }
        if (!value.IsScalar() || value.Scalar().empty()) {
            return "gives '" + key + "' no single value";
        }
        return set(key, value.Scalar());
    }

    std::string take_secret_files(const YAML::Node& value) {
        const auto files = value.IsSequence() ? texts_of(value) : Failure{""};
        if (!files) {
            return "has secretFiles that are no list of paths";
        }
        endpoint_.secret_files = *files;
        return {};
    }

    std::string take_headers(const YAML::Node& value) {
        if (!value.IsMap()) {
            return "has headers that are no tree of names and values";
        }
        for (const auto& header : value) {
            if (!header.first.IsScalar() || !header.second.IsScalar()) {
                return "has a header that is no name with a value";
            }
            endpoint_.headers.emplace_back(header.first.Scalar(), header.second.Scalar());
        }
        return {};
    }

    std::string set(const std::string& key, const std::string& value) {
        if (key == "timeout") {
            const auto timeout = duration_setting(value);
            if (!timeout || *timeout > kTimeoutMax) {
                return "has a timeout that is no duration up to 10m";
            }
            endpoint_.timeout = *timeout;
            return {};
        }
        if (key == "maxConcurrent") {
            const auto number = number_setting(value, {1, kConcurrentMax});
            if (!number) {
                return "has a maxConcurrent that is no number from 1 to " + std::to_string(kConcurrentMax);
            }
            endpoint_.max_concurrent = *number;
            return {};
        }
        (key == "url" ? endpoint_.url : endpoint_.proxy) = value;
        return {};
    }

    EndpointSetting endpoint_;
    std::set<std::string> seen_;
};

Result<std::vector<EndpointSetting>, std::string> endpoints_of(const YAML::Node& list) {
    if (!list.IsSequence()) {
        return Failure{"it takes a list of endpoints."};
    }
    std::vector<EndpointSetting> endpoints;
    for (const YAML::Node& item : list) {
        auto endpoint = EndpointReader{}.read(item);
        if (!endpoint) {
            return Failure{"entry " + std::to_string(endpoints.size() + 1) + " " + endpoint.error() + "."};
        }
        endpoints.push_back(*std::move(endpoint));
    }
    return endpoints;
}

std::string json_of(const EndpointSetting& endpoint) {
    JsonObject headers;
    for (const auto& [name, value] : endpoint.headers) {
        headers.text(name, value);
    }
    std::string files;
    for (const std::string& file : endpoint.secret_files) {
        files += (files.empty() ? "" : ",") + json_string(file);
    }
    JsonObject json;
    json.text("url", endpoint.url);
    if (!files.empty()) {
        json.raw("secretFiles", "[" + files + "]");
    }
    if (!endpoint.headers.empty()) {
        json.raw("headers", headers.done());
    }
    if (endpoint.timeout) {
        json.text("timeout", std::to_string(endpoint.timeout->count()) + "ms");
    }
    if (endpoint.max_concurrent) {
        json.text("maxConcurrent", std::to_string(*endpoint.max_concurrent));
    }
    if (!endpoint.proxy.empty()) {
        json.text("proxy", endpoint.proxy);
    }
    return json.done();
}

}  // namespace

Result<std::vector<std::string>, std::string> list_setting(const std::string& text) {
    const bool is_yaml = text.starts_with('[');
    return read_yaml_text<std::vector<std::string>>(is_yaml ? text : "[" + text + "]",
                                                    [](const YAML::Node& list) { return texts_of(list); });
}

Result<std::vector<EndpointSetting>, std::string> endpoints_setting(const std::string& text) {
    return read_yaml_text<std::vector<EndpointSetting>>(
        text, [](const YAML::Node& list) { return endpoints_of(list); });
}

std::string mask_endpoints(const std::string& text) {
    auto endpoints = endpoints_setting(text);
    std::string masked;
    for (EndpointSetting& endpoint : *endpoints) {
        for (auto& [name, value] : endpoint.headers) {
            value = value.starts_with(kFile) ? value : std::string{kMask};
        }
        masked += (masked.empty() ? "" : ",") + json_of(endpoint);
    }
    return "[" + masked + "]";
}

bool holds_masked_endpoints(const std::string& text) {
    const auto endpoints = endpoints_setting(text);
    return endpoints && std::any_of(endpoints->begin(), endpoints->end(), [](const EndpointSetting& one) {
               return std::any_of(one.headers.begin(), one.headers.end(),
                                  [](const auto& header) { return header.second == kMask; });
           });
}

}  // namespace sluice
