#include "core/limits/sliding_window.hpp"

#include <algorithm>

#include "core/limits/fixed_window.hpp"

namespace sluice {
namespace {

// Time as the log has seen it: never before its newest charge.
Moment reached(const SlidingWindow::State& state, Moment now) {
    return state.empty() ? now : std::max(now, moment_of(state.back().at));
}

}  // namespace

Result<SlidingWindow, PlanError> SlidingWindow::make(Tokens limit, Wait window) {
    if (limit < 1 || limit > kLimitMax) {
        return Unexpected{
            PlanError{"capacity of sliding_window must be from 1 to 1024; for more there is "
                      "sliding_window_estimate"}};
    }
    if (window < Wait{1} || window > kWindowSizeMax) {
        return Unexpected{PlanError{"a window must be longer than nothing and at most 366 days"}};
    }
    return SlidingWindow{limit, window};
}

std::size_t SlidingWindow::gone(const State& state, Moment now) const {
    const Moment seen = reached(state, now);
    const auto first =
        std::find_if(state.begin(), state.end(), [&](const Hit& hit) { return leaves(hit) > seen; });
    return static_cast<std::size_t>(first - state.begin());
}

Moment SlidingWindow::room_for(const State& state, std::size_t first, Tokens excess) const {
    std::size_t at = first;
    for (Tokens freed = state[at].cost; freed < excess; freed += state[at].cost) {
        ++at;
    }
    return leaves(state[at]);
}

Standing SlidingWindow::look(const State& state, const Ask& ask) const {
    const std::size_t first = gone(state, ask.now);
    Tokens used = 0;
    for (std::size_t i = first; i < state.size(); ++i) {
        used += state[i].cost;
    }
    const Tokens left = std::max<Tokens>(0, limit_ - used);
    if (ask.weight() > left) {
        const Moment room = room_for(state, first, used + ask.weight() - limit_);
        return {false, limit_, left, room - ask.now, leaves(state.back()) - ask.now};
    }
    const Moment newest = ask.is_peek() && used == 0 ? ask.now
                          : ask.is_peek()            ? leaves(state.back())
                                                     : reached(state, ask.now) + window_;
    return {true, limit_, left - ask.cost, Wait{0}, newest - ask.now};
}

void SlidingWindow::charge(State& state, const Ask& ask) const {
    const Moment at = reached(state, ask.now);
    state.erase(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(gone(state, ask.now)));
    if (!state.empty() && (state.back().at == microseconds_of(at) || state.back().cost == 0)) {
        state.back() = {microseconds_of(at), state.back().cost + ask.cost};
    } else {
        state.push_back({microseconds_of(at), ask.cost});
    }
}

void SlidingWindow::refund(State& state, const Ask& ask) const {
    if (state.empty()) {
        return;
    }
    Tokens owed = ask.cost;
    for (std::size_t i = gone(state, ask.now); i < state.size(); ++i) {
        const Tokens back = std::min(owed, state[i].cost);
        state[i].cost -= back;
        owed -= back;
    }
    state.erase(std::remove_if(state.begin(), state.end() - 1, [](const Hit& hit) { return hit.cost == 0; }),
                state.end() - 1);
}

Moment SlidingWindow::idle_at(const State& state) const {
    return state.empty() ? Moment{} : leaves(state.back());
}

}  // namespace sluice
