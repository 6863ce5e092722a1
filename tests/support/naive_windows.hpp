#pragma once

#include <map>

#include "core/slots/planner.hpp"

namespace sluice::test {

// The counts of a pool in the most obvious way: a map, searched window by window.
class NaiveWindows final : public WindowCounts {
public:
    Places held(WindowIndex window) override {
        const auto found = counts_.find(window);
        return found == counts_.end() ? 0 : found->second;
    }

    std::optional<WindowIndex> earliest_holding_at_most(WindowRange range, Places held_max) override {
        for (WindowIndex window = range.first; window <= range.last; ++window) {
            if (held(window) <= held_max) {
                return window;
            }
        }
        return std::nullopt;
    }

    void set(WindowIndex window, Places places) { counts_[window] = places; }
    void add(WindowIndex window, Places places) { counts_[window] += places; }
    void remove(WindowIndex window, Places places) { counts_[window] -= places; }

    [[nodiscard]] const std::map<WindowIndex, Places>& counts() const { return counts_; }

private:
    std::map<WindowIndex, Places> counts_;
};

}  // namespace sluice::test
