#include "door/http/routes.hpp"

#include <algorithm>

#include "base/percent.hpp"
#include "door/http/target.hpp"

namespace sluice::http {
namespace {

bool same_method(const Route& route, std::string_view method) {
    return route.method == method || (method == "HEAD" && route.method == "GET");
}

std::string_view next_segment(std::string_view& rest) {
    const auto slash = rest.find('/');
    const std::string_view segment = rest.substr(0, slash);
    rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
    return segment;
}

// What stands in the pattern's place, still encoded. Nothing when the path is another.
std::optional<std::string_view> match(std::string_view pattern, std::string_view path) {
    if (std::count(pattern.begin(), pattern.end(), '/') != std::count(path.begin(), path.end(), '/')) {
        return std::nullopt;
    }
    std::string_view captured;
    while (!pattern.empty()) {
        const std::string_view wanted = next_segment(pattern);
        const std::string_view given = next_segment(path);
        if (wanted.starts_with('{') && !given.empty()) {
            captured = given;
        } else if (wanted != given) {
            return std::nullopt;
        }
    }
    // Of "/" nothing is left before the path's own segment was looked at.
    return path.empty() ? std::optional{captured} : std::nullopt;
}

void allow(std::string& methods, const Route& route) {
    methods += methods.empty() ? "" : ", ";
    methods += route.method;
    methods += route.method == "GET" ? ", HEAD" : "";
}

}  // namespace

Router::Router(std::span<const RouteTable> tables) {
    for (const RouteTable& table : tables) {
        for (const Route& route : table.routes) {
            entries_.push_back({route, table.desk});
        }
    }
}

RouteMatch Router::find(std::string_view method, std::string_view target) const {
    const std::string_view path = path_of(target);
    RouteMatch result;
    std::string spelled_out;  // The methods of the path itself.
    // A path that is spelled out for the method goes before a {place}: an event may be named "batch".
    for (const auto& [route, desk] : entries_) {
        if (route.path == path && same_method(route, method)) {
            result.route = &route;
            result.desk = desk;
            return result;
        }
        if (route.path == path) {
            allow(spelled_out, route);
        }
    }
    for (const auto& [route, desk] : entries_) {
        const auto captured = match(route.path, path);
        if (!captured) {
            continue;
        }
        if (same_method(route, method)) {
            result.route = &route;
            result.desk = desk;
            result.capture = percent_decode(*captured).value_or("");
            result.allowed.clear();
            return result;
        }
        allow(result.allowed, route);
    }
    // Who mistook the method for /slots/batch does not look for an event of that name.
    if (!spelled_out.empty()) {
        result.allowed = spelled_out;
    }
    return result;
}

}  // namespace sluice::http
