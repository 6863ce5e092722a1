#pragma once

#include <array>
#include <memory>
#include <optional>

#include "core/slots/planner.hpp"

namespace sluice {

// The counts of one pool in memory, as a tree of 64-way nodes that each know the smallest count below every
// child. So the earliest window with room for any cap and any weight is found in a few steps, however many
// full windows lie in front of it, and raising a cap or giving places back needs no rebuilding. A run of
// windows that all hold the same is one number: neither the empty future nor a full backlog takes room.
// Thread safety: none.
class Occupancy final : public WindowCounts {
public:
    Occupancy();
    ~Occupancy() override;
    Occupancy(Occupancy&&) noexcept;
    Occupancy& operator=(Occupancy&&) noexcept;

    Places held(WindowIndex window) override;
    std::optional<WindowIndex> earliest_holding_at_most(WindowRange range, Places held_max) override;

    // REQUIRES: 0 <= window < 2^48.
    void set(WindowIndex window, Places places);
    void add(WindowIndex window, Places places) { set(window, held(window) + places); }
    // REQUIRES: the window holds that many.
    void remove(WindowIndex window, Places places) { set(window, held(window) - places); }

    // How many nodes the tree has: what its memory is proportional to.
    [[nodiscard]] std::size_t nodes() const { return nodes_; }

private:
    struct Node;

    // What the last search has passed over: no window from `first` to before `end` holds at most `held_max`.
    // Most searches repeat the one before, and need not walk over its full windows again.
    struct Passed {
        WindowIndex first = 0;
        WindowIndex end = 0;
        Places held_max = 0;
    };

    void collapse(std::array<Node*, 8>& path, WindowIndex window);

    std::unique_ptr<Node> root_;
    Passed passed_;
    std::size_t nodes_ = 1;
};

}  // namespace sluice
