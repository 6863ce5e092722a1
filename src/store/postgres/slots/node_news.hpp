#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "core/slots/slot.hpp"

// What sessions say to each other on channel `sluice`.
namespace sluice::postgres {

// A window has room again.
struct RoomAgain {
    PoolName pool;
    Instant window_start;
    Places places;
};
// Nothing that is believed of the pool's counters holds any more.
struct PoolRecut {
    PoolName pool;
};
struct ConfigChanged {
    ConfigName name;
    ConfigId newest;
};
// A node was asked to flush its cache, and asks all others to.
struct CacheFlushed {
    std::int64_t node;
};
// Works came into lane Due, the earliest of them due then.
struct WorkAdded {
    Instant earliest;
};
using NodeNews = std::variant<RoomAgain, PoolRecut, ConfigChanged, CacheFlushed, WorkAdded>;

// Nothing when it is none of these: a newer node may say more.
std::optional<NodeNews> parse_news(std::string_view payload);

}  // namespace sluice::postgres
