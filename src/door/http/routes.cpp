#include "door/http/routes.hpp"

#include <algorithm>
#include <array>

#include "base/percent.hpp"
#include "door/http/handlers.hpp"
#include "door/http/target.hpp"

namespace sluice::http {
namespace {

constexpr std::array kRoutes{
    Route{"POST", "/api/v1/slots", assign_slot, Access::Open, BodyKind::Json},
    Route{"GET", "/healthz", health_live},
    Route{"POST", "/api/v1/slots/batch", assign_batch, Access::Open, BodyKind::Json, kBatchBytesMax},
    Route{"POST", "/api/v1/slots/stream", StreamSlots{}, Access::Open, BodyKind::Lines},
    Route{"POST", "/api/v1/slots/quote", quote_slot, Access::Open, BodyKind::Json},
    Route{"GET", "/api/v1/slots/{eventId}", get_slot},
    Route{"DELETE", "/api/v1/slots/{eventId}", cancel_slot},
    Route{"POST", "/api/v1/slots/{eventId}/move", move_slot, Access::Open, BodyKind::Json},
    Route{"GET", "/api/v1/windows", list_windows},
    Route{"GET", "/admin/rate-limit/config", get_config, Access::Admin},
    Route{"POST", "/admin/rate-limit/config", set_config, Access::Admin, BodyKind::Json},
    Route{"GET", "/admin/rate-limit/config/history", get_config_history, Access::Admin},
    Route{"GET", "/admin/rate-limit/configs", list_configs, Access::Admin},
    Route{"POST", "/admin/rate-limit/cache/flush", flush_cache, Access::Admin},
    Route{"POST", "/api/v1/check", check_limits, Access::Open, BodyKind::Json},
    Route{"POST", "/api/v1/check/batch", check_limits_batch, Access::Open, BodyKind::Json, kBatchBytesMax},
    Route{"POST", "/api/v1/refund", refund_tokens, Access::Open, BodyKind::Json},
    Route{"POST", "/api/v1/release", release_lease, Access::Open, BodyKind::Json},
    Route{"GET", "/api/v1/authz", authorize},
    Route{"GET", "/admin/plans", list_plans, Access::Admin},
    Route{"GET", "/admin/plans/{name}", get_plan, Access::Admin},
    Route{"PUT", "/admin/plans/{name}", put_plan, Access::Admin, BodyKind::Json},
    Route{"DELETE", "/admin/plans/{name}", remove_plan, Access::Admin},
    Route{"GET", "/admin/keys/{key}", inspect_key, Access::Admin},
    Route{"DELETE", "/admin/keys/{key}", reset_key, Access::Admin},
    Route{"PUT", "/admin/keys/{key}", override_key, Access::Admin, BodyKind::Json},
    Route{"GET", "/admin/settings", settings, Access::Admin},
    Route{"GET", "/", front_page},
    Route{"GET", "/readyz", health_ready},
    Route{"GET", "/q/health/live", health_live},
    Route{"GET", "/q/health/ready", health_ready},
    Route{"GET", "/metrics", metrics},
    Route{"GET", "/q/metrics", metrics},
    Route{"GET", "/openapi.json", openapi},
};

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

std::span<const Route> all_routes() { return kRoutes; }

RouteMatch find_route(std::string_view method, std::string_view target) {
    const std::string_view path = path_of(target);
    RouteMatch result;
    std::string spelled_out;  // The methods of the path itself.
    // A path that is spelled out for the method goes before a {place}: an event may be named "batch".
    for (const Route& route : kRoutes) {
        if (route.path == path && same_method(route, method)) {
            result.route = &route;
            return result;
        }
        if (route.path == path) {
            allow(spelled_out, route);
        }
    }
    for (const Route& route : kRoutes) {
        const auto captured = match(route.path, path);
        if (!captured) {
            continue;
        }
        if (same_method(route, method)) {
            result.route = &route;
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
