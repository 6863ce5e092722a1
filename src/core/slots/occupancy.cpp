#include "core/slots/occupancy.hpp"

#include <algorithm>
#include <cassert>

namespace sluice {
namespace {

constexpr int kBits = 6;
constexpr std::size_t kFanout = std::size_t{1} << kBits;
constexpr int kLevels =
    8;  // 8 levels of 6 bits: windows below 2^48, ten years of windows of one millisecond.

// Which child of a node on `level` leads to the window. Level 0 is the root, the last level holds the counts.
std::size_t child_of(WindowIndex window, int level) {
    return static_cast<std::size_t>(window >> (kBits * (kLevels - 1 - level))) & (kFanout - 1);
}

// How many windows one child of a node on `level` covers.
WindowIndex span_of(int level) { return WindowIndex{1} << (kBits * (kLevels - 1 - level)); }

}  // namespace

struct Occupancy::Node {
    // The smallest count below each child. Without a node there, every window below holds exactly that.
    std::array<Places, kFanout> least{};
    // Empty on the last level, whose `least` are the counts themselves.
    std::unique_ptr<std::array<std::unique_ptr<Node>, kFanout>> children;

    [[nodiscard]] Node* child(std::size_t index) const {
        return children ? (*children)[index].get() : nullptr;
    }

    [[nodiscard]] Places least_of_all() const { return *std::min_element(least.begin(), least.end()); }

    [[nodiscard]] bool is_uniform() const {
        return std::all_of(least.begin(), least.end(),
                           [this](Places places) { return places == least[0]; }) &&
               (!children || std::all_of(children->begin(), children->end(),
                                         [](const auto& child) { return child == nullptr; }));
    }

    static std::optional<WindowIndex> earliest(const Node& node, int level, WindowRange range,
                                               Places held_max) {
        const std::size_t first = child_of(range.first, level);
        const std::size_t last = child_of(range.last, level);
        const WindowIndex span = span_of(level);
        const WindowIndex base = range.first & ~(span * static_cast<WindowIndex>(kFanout) - 1);
        for (std::size_t i = first; i <= last; ++i) {
            if (node.least[i] > held_max) {
                continue;
            }
            const WindowIndex start = base + static_cast<WindowIndex>(i) * span;
            const WindowRange part{std::max(range.first, start), std::min(range.last, start + span - 1)};
            const Node* child = node.child(i);
            if (child == nullptr) {
                return part.first;
            }
            if (const auto found = earliest(*child, level + 1, part, held_max)) {
                return found;
            }
        }
        return std::nullopt;
    }
};

Occupancy::Occupancy() : root_{std::make_unique<Node>()} {}
Occupancy::~Occupancy() = default;
Occupancy::Occupancy(Occupancy&&) noexcept = default;
Occupancy& Occupancy::operator=(Occupancy&&) noexcept = default;

Places Occupancy::held(WindowIndex window) {
    const Node* node = root_.get();
    for (int level = 0;; ++level) {
        const std::size_t index = child_of(window, level);
        const Node* child = node->child(index);
        if (child == nullptr) {
            return node->least[index];
        }
        node = child;
    }
}

std::optional<WindowIndex> Occupancy::earliest_holding_at_most(WindowRange range, Places held_max) {
    const WindowIndex first = range.first;
    if (held_max <= passed_.held_max && passed_.first <= first && first < passed_.end) {
        range.first = passed_.end;
    }
    const auto found =
        range.first <= range.last ? Node::earliest(*root_, 0, range, held_max) : std::optional<WindowIndex>{};
    passed_ = {first, found.value_or(range.last + 1), held_max};
    return found;
}

void Occupancy::set(WindowIndex window, Places places) {
    assert(window >= 0 && window < span_of(0) * static_cast<WindowIndex>(kFanout));
    if (places <= passed_.held_max && passed_.first <= window) {
        passed_.end = std::min(passed_.end, window);
    }
    std::array<Node*, kLevels> path{};
    Node* node = root_.get();
    for (int level = 0; level < kLevels - 1; ++level) {
        path[static_cast<std::size_t>(level)] = node;
        const std::size_t index = child_of(window, level);
        if (!node->children) {
            node->children = std::make_unique<std::array<std::unique_ptr<Node>, kFanout>>();
        }
        auto& child = (*node->children)[index];
        if (!child) {
            child = std::make_unique<Node>();
            child->least.fill(node->least[index]);
            ++nodes_;
        }
        node = child.get();
    }
    path[kLevels - 1] = node;
    node->least[child_of(window, kLevels - 1)] = places;
    collapse(path, window);
}

// Brings the smallest counts up to date from the leaf to the root, and gives up nodes whose windows are
// alike.
void Occupancy::collapse(std::array<Node*, 8>& path, WindowIndex window) {
    for (int level = kLevels - 1; level > 0; --level) {
        Node& node = *path[static_cast<std::size_t>(level)];
        Node& parent = *path[static_cast<std::size_t>(level - 1)];
        const std::size_t index = child_of(window, level - 1);
        const Places least = node.least_of_all();
        const bool gone = node.is_uniform();
        if (gone) {
            (*parent.children)[index].reset();
            --nodes_;
        }
        if (parent.least[index] == least && !gone) {
            return;  // Nothing above can change.
        }
        parent.least[index] = least;
    }
}

}  // namespace sluice
