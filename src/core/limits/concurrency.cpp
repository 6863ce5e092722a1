#include "core/limits/concurrency.hpp"

#include <algorithm>

#include "core/limits/fixed_window.hpp"

namespace sluice {
namespace {

// Time as the leases have seen it: never before the newest grant.
Moment reached(const Concurrency::State& state, Moment now) {
    return state.empty() ? now : std::max(now, moment_of(state.back().granted));
}

// The newest stays even when it holds nothing.
void drop_empty(Concurrency::State& state) {
    if (!state.empty()) {
        const auto newest = state.end() - 1;
        state.erase(
            std::remove_if(state.begin(), newest, [](const auto& lease) { return lease.places == 0; }),
            newest);
    }
}

}  // namespace

Result<Concurrency, PlanError> Concurrency::make(Tokens limit, Wait term) {
    if (limit < 1 || limit > kLimitMax) {
        return Unexpected{PlanError{"capacity of concurrency must be from 1 to 1024"}};
    }
    if (term < Wait{1} || term > kWindowSizeMax) {
        return Unexpected{PlanError{"a lease must last longer than nothing and at most 366 days"}};
    }
    return Concurrency{limit, term};
}

std::size_t Concurrency::gone(const State& state, Moment now) const {
    const Moment seen = reached(state, now);
    const auto first =
        std::find_if(state.begin(), state.end(), [&](const Lease& lease) { return expires(lease) > seen; });
    return static_cast<std::size_t>(first - state.begin());
}

Standing Concurrency::look(const State& state, const Ask& ask) const {
    const std::size_t first = gone(state, ask.now);
    Tokens held = 0;
    for (std::size_t i = first; i < state.size(); ++i) {
        held += state[i].places;
    }
    const Tokens left = std::max<Tokens>(0, limit_ - held);
    if (ask.weight() > left) {
        std::size_t last = first;
        for (Tokens freed = state[last].places; freed < held + ask.weight() - limit_;
             freed += state[last].places) {
            ++last;
        }
        return {false, limit_, left, expires(state[last]) - ask.now, expires(state.back()) - ask.now};
    }
    const Moment last = ask.is_peek() && held == 0 ? ask.now
                        : ask.is_peek()            ? expires(state.back())
                                                   : reached(state, ask.now) + term_;
    return {true, limit_, left - ask.cost, Wait{0}, last - ask.now};
}

void Concurrency::charge(State& state, const Ask& ask) const {
    const Moment at = reached(state, ask.now);
    state.erase(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(gone(state, ask.now)));
    if (!state.empty() && state.back().places == 0) {
        state.pop_back();
    }
    state.push_back({ask.lease, microseconds_of(at), ask.cost});
}

void Concurrency::refund(State& state, const Ask& ask) const {
    Tokens owed = ask.cost;
    for (std::size_t i = gone(state, ask.now); i < state.size(); ++i) {
        const Tokens back = std::min(owed, state[i].places);
        state[i].places -= back;
        owed -= back;
    }
    drop_empty(state);
}

bool Concurrency::release(State& state, const Ask& ask) const {
    const auto first = state.begin() + static_cast<std::ptrdiff_t>(gone(state, ask.now));
    const auto held = std::find_if(
        first, state.end(), [&](const Lease& each) { return each.id == ask.lease && each.places > 0; });
    if (held == state.end()) {
        return false;
    }
    held->places = 0;
    drop_empty(state);
    return true;
}

Moment Concurrency::idle_at(const State& state) const {
    return state.empty() ? Moment{} : expires(state.back());
}

}  // namespace sluice
