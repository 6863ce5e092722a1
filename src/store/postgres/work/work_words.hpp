#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/dispatch/work.hpp"

// What nodes say to each other about works, on channel `sluice`.
namespace sluice::postgres {

// Tells nodes apart: see ConnectSettings.
using NodeNumber = std::int64_t;

// Something stands in lane Due that is due then, or in lane Dead.
struct WorkWaits {
    Instant due;
};
struct LaneFilled {
    Lane lane;
};
// More lanes than it is worth to name.
struct LanesFilled {};
struct TermsChanged {};

struct WorkWords {
    std::variant<WorkWaits, LaneFilled, LanesFilled, TermsChanged> news;
    std::optional<NodeNumber> node{};  // Who said it. Nothing: an application, by SQL.
};

// Nothing when it is none of these: a newer node may say more.
std::optional<WorkWords> parse_work_words(std::string_view said);

std::string say_work_waits(Instant due, NodeNumber node);
// At most kLanesNamed of them; beyond that one for all.
std::vector<std::string> say_lanes_filled(const std::set<Lane>& lanes, NodeNumber node);
inline constexpr std::size_t kLanesNamed = 32;

}  // namespace sluice::postgres
