#include "door/http/target.hpp"

#include "base/percent.hpp"

namespace sluice::http {
namespace {

// Takes the text up to `separator` off the front of `rest`.
std::string_view take_until(std::string_view& rest, char separator) {
    const auto at = rest.find(separator);
    const std::string_view taken = rest.substr(0, at);
    rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
    return taken;
}

std::string_view without_authority(std::string_view target) {
    const auto scheme_end = target.find("://");
    if (target.starts_with('/') || scheme_end == std::string_view::npos) {
        return target;
    }
    const auto path = target.find('/', scheme_end + 3);
    return path == std::string_view::npos ? std::string_view{"/"} : target.substr(path);
}

bool parse_query(std::string_view query, Target& target) {
    while (!query.empty()) {
        std::string_view pair = take_until(query, '&');
        if (pair.empty()) {
            continue;
        }
        auto name = percent_decode(take_until(pair, '='));
        auto value = percent_decode(pair);
        if (!name || !value || !target.query.emplace(std::move(*name), std::move(*value)).second) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::optional<std::string_view> Target::parameter(std::string_view name) const {
    const auto found = query.find(name);
    return found == query.end() ? std::nullopt : std::optional<std::string_view>{found->second};
}

std::string_view path_of(std::string_view target) {
    std::string_view rest = without_authority(target);
    return take_until(rest, '?');
}

std::optional<Target> parse_target(std::string_view target) {
    std::string_view query = without_authority(target);
    std::string_view path = take_until(query, '?');
    if (!path.starts_with('/')) {
        return std::nullopt;
    }
    path.remove_prefix(1);
    Target result;
    for (;;) {
        const bool last = path.find('/') == std::string_view::npos;
        auto segment = percent_decode(take_until(path, '/'));
        if (!segment) {
            return std::nullopt;
        }
        result.segments.push_back(std::move(*segment));
        if (last) {
            break;
        }
    }
    return parse_query(query, result) ? std::optional{std::move(result)} : std::nullopt;
}

}  // namespace sluice::http
