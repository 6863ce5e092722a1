#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::http {

// A request target, split and percent-decoded. Segments are decoded after splitting, so that an encoded slash
// stays part of its segment. A plus stays a plus: it occurs in times, and forms are not spoken here.
struct Target {
    std::vector<std::string> segments;
    std::map<std::string, std::string, std::less<>> query;

    [[nodiscard]] std::optional<std::string_view> parameter(std::string_view name) const;
};

// The path part of a target: without scheme, authority and query.
std::string_view path_of(std::string_view target);

// Nothing for a broken percent-encoding or a query that names a parameter twice.
std::optional<Target> parse_target(std::string_view target);

}  // namespace sluice::http
