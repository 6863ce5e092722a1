#pragma once

#include <algorithm>
#include <iterator>
#include <map>

#include "core/slots/planner.hpp"

namespace sluice::postgres {

// What searches have passed over, while counts only grow: a window that had no room never will. So a thousand
// events for the same time, or for times near each other, walk over the windows in front of them once.
// Thread safety: none.
class PassedWindows {
public:
    // The first window from `first` on that may hold at most `held_max`.
    [[nodiscard]] WindowIndex skip(WindowIndex first, Places held_max) const {
        const auto runs = runs_.find(held_max);
        if (runs == runs_.end()) {
            return first;
        }
        const auto behind = runs->second.upper_bound(first);
        return behind == runs->second.begin() ? first : std::max(first, std::prev(behind)->second);
    }

    // None from `first` to before `end` does.
    void note(WindowIndex first, WindowIndex end, Places held_max) {
        if (first >= end) {
            return;
        }
        auto& runs = runs_[held_max];
        auto run = runs.upper_bound(first);
        if (run != runs.begin() && std::prev(run)->second >= first) {
            run = std::prev(run);
            first = run->first;
        }
        while (run != runs.end() && run->first <= end) {
            end = std::max(end, run->second);
            run = runs.erase(run);
        }
        runs.emplace(first, end);
    }

private:
    std::map<Places, std::map<WindowIndex, WindowIndex>> runs_;  // [first, end), apart from each other.
};

}  // namespace sluice::postgres
