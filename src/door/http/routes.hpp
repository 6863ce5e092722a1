#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "door/http/route.hpp"

namespace sluice::http {

// The routes of each part, and the door's own.
std::span<const Route> slot_routes();
std::span<const Route> limit_routes();
std::span<const Route> server_routes();

// A part of the door: what its routes have in common.
struct RouteTable {
    std::string_view name;  // Of its fragment: <name>_routes.json.
    std::span<const Route> routes;
};

// Every route of the door.
std::vector<RouteTable> all_routes();

struct RouteMatch {
    const Route* route = nullptr;
    std::string capture;
    std::string allowed;  // The methods of the path, when it is known but not for this method.
};

// Finds the route of a request.
// Thread safety: immutable.
class Router {
public:
    explicit Router(std::span<const RouteTable> tables);

    // HEAD matches where GET does. The match lives as long as the router.
    [[nodiscard]] RouteMatch find(std::string_view method, std::string_view target) const;

private:
    std::vector<Route> routes_;
};

}  // namespace sluice::http
