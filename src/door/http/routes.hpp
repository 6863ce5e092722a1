#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "door/http/exchange.hpp"

namespace sluice::http {

inline constexpr std::size_t kBodyBytesMax = 64 * 1024;
inline constexpr std::size_t kBatchBytesMax = 16 * 1024 * 1024;

// The route whose body is read and answered line by line, while it arrives.
struct StreamSlots {};

enum class Access { Open, Admin };
enum class BodyKind { None, Json, Lines };

struct Route {
    std::string_view method;
    std::string_view path;  // At most one segment is a {place}.
    std::variant<QuickHandler, WaitingHandler, StreamSlots> handler;
    Access access = Access::Open;
    BodyKind body = BodyKind::None;
    std::size_t body_max = kBodyBytesMax;
};

// Every route of the door.
std::span<const Route> all_routes();

struct RouteMatch {
    const Route* route = nullptr;
    std::string capture;
    std::string allowed;  // The methods of the path, when it is known but not for this method.
};

// HEAD matches where GET does.
RouteMatch find_route(std::string_view method, std::string_view target);

}  // namespace sluice::http
