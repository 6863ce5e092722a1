#include "core/dispatch/gate.hpp"

#include <algorithm>
#include <cassert>

namespace sluice {

Gate::Gate(GateTerms terms, SteadyTime opens) : terms_{terms}, spaced_from_{opens} {
    assert(terms.max_per_second >= 1);
}

// What began under the old terms is held to the new ones: its permit comes back when they say.
void Gate::change(GateTerms terms) {
    assert(terms.max_per_second >= 1);
    if (terms.holds != terms_.holds) {
        for (const auto& [permit, began] : under_way_) {
            if (!began) {
                continue;
            }
            if (terms.holds == RateHolds::Sender) {
                add_return(*began + kSecond);
                --unknown_;
            } else {
                drop_return(*began + kSecond);
                ++unknown_;
            }
        }
    }
    terms_ = terms;
}

void Gate::close_until(SteadyTime opens) { spaced_from_ = std::max(spaced_from_, opens); }

SteadyTime Gate::next() const {
    const std::size_t taken = unknown_ + returns_.size();
    if (taken < terms_.max_per_second) {
        return spaced_from_;
    }
    // As many have to come back before the next call as there are too many for it.
    const std::size_t last_awaited = taken - terms_.max_per_second;
    return last_awaited < returns_.size() ? std::max(spaced_from_, returns_[last_awaited])
                                          : SteadyTime::max();
}

Gate::Permit Gate::take(SteadyTime when) {
    assert(when >= next());
    constexpr std::chrono::nanoseconds kInterval = kSecond;
    const std::chrono::nanoseconds even = kInterval / terms_.max_per_second;
    spaced_from_ = when + (even - even / 16);
    // No call is planned before this one any more, so what is back by then need not be remembered.
    while (!returns_.empty() && returns_.front() <= when) {
        returns_.pop_front();
    }
    return admit();
}

Gate::Permit Gate::admit() {
    ++unknown_;
    under_way_.emplace(++last_, std::nullopt);
    return last_;
}

void Gate::began(Permit permit, SteadyTime when) {
    const auto found = under_way_.find(permit);
    if (found == under_way_.end() || found->second) {
        return;
    }
    found->second = when;
    if (is_known(found->second)) {
        --unknown_;
        add_return(when + kSecond);
    }
}

void Gate::ended(Permit permit, SteadyTime when) {
    const auto found = under_way_.find(permit);
    if (found == under_way_.end()) {
        return;
    }
    if (!is_known(found->second)) {
        --unknown_;
        add_return(when + kSecond);
    }
    under_way_.erase(found);
}

void Gate::withdrawn(Permit permit) {
    const auto found = under_way_.find(permit);
    if (found == under_way_.end()) {
        return;
    }
    if (is_known(found->second)) {
        drop_return(*found->second + kSecond);
    } else {
        --unknown_;
    }
    under_way_.erase(found);
}

void Gate::vacate(SteadyTime until, SteadyTime when) {
    if (drop_return(until)) {
        add_return(when);
    }
}

std::size_t Gate::out(SteadyTime now) const {
    const auto back = std::upper_bound(returns_.begin(), returns_.end(), now);
    return unknown_ + static_cast<std::size_t>(returns_.end() - back);
}

void Gate::add_return(SteadyTime when) {
    returns_.insert(std::upper_bound(returns_.begin(), returns_.end(), when), when);
}

// False: it is not there, because a call was planned for later than that.
bool Gate::drop_return(SteadyTime when) {
    const auto found = std::lower_bound(returns_.begin(), returns_.end(), when);
    if (found == returns_.end() || *found != when) {
        return false;
    }
    returns_.erase(found);
    return true;
}

}  // namespace sluice
