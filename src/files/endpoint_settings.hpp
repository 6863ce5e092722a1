#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace sluice {

// How calls to the URLs that begin with `url` are made, as one entry of `dispatch.endpoints` says it.
struct EndpointSetting {
    std::string url{};
    std::vector<std::string> secret_files{};
    std::vector<std::pair<std::string, std::string>> headers{};  // Values, or file:PATH.
    std::optional<Duration> timeout{};
    std::optional<std::size_t> max_concurrent{};
    std::string proxy{};

    bool operator==(const EndpointSetting&) const = default;
};

// A list like `[a, b]`, or as variables have it, `a,b`. Fails with a sentence.
Result<std::vector<std::string>, std::string> list_setting(const std::string& text);

// A list of `{url: PREFIX, secretFiles: [...], headers: {Name: value}, timeout: 15s, maxConcurrent: 64,
// proxy: URL}`, of which only url must be there. Fails with a sentence that names the entry.
Result<std::vector<EndpointSetting>, std::string> endpoints_setting(const std::string& text);

// The same text with every header's value as ****, unless it names a file. REQUIRES: it can be read.
std::string mask_endpoints(const std::string& text);

// Whether a masked value stands in the text.
bool holds_masked_endpoints(const std::string& text);

}  // namespace sluice
