#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "door/http/route.hpp"

namespace sluice::http {

// The routes of a part, and what their handlers work with.
struct RouteTable {
    std::span<const Route> routes;
    const Desk* desk;  // Outlives the table. Null: the routes are looked at and never called.
};

struct RouteMatch {
    const Route* route = nullptr;
    const Desk* desk = nullptr;  // Of the route.
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
    struct Entry {
        Route route;
        const Desk* desk;
    };
    std::vector<Entry> entries_;
};

}  // namespace sluice::http
