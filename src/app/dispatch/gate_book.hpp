#pragma once

#include <map>
#include <optional>
#include <vector>

#include "app/dispatch/dispatch_figures.hpp"
#include "core/dispatch/gate.hpp"

namespace sluice {

// The gates of pools and hosts, and how many calls are under way to those that have none: should one get a
// gate, it begins with them.
// Pure: reads no clock. Thread safety: none.
class GateBook {
public:
    // A way through the gate of a subject. 0: it had none.
    struct Pass {
        Subject subject;
        Gate::Permit permit = 0;
    };

    // Makes gates what the terms say. A new one opens a second from now: what was sent without it is then a
    // second ago, and what is still under way has its permits.
    void apply(const DispatchTerms& terms, SteadyTime now);
    // The same for one subject.
    void apply(const Subject& subject, const DispatchTerms& terms, SteadyTime now);

    // When the next call may begin; SteadyTime::min(): there is no gate.
    [[nodiscard]] SteadyTime next(const Subject& subject) const;

    // REQUIRES: when >= next(subject).
    Pass take(const Subject& subject, SteadyTime when);
    void began(const Pass& pass, SteadyTime when);
    void ended(const Pass& pass, SteadyTime when);
    void withdrawn(const Pass& pass, SteadyTime now);
    // A call that somebody before made may be under way until then; a gate that is made before that begins
    // with it.
    void occupy(const Subject& subject, SteadyTime until);

    [[nodiscard]] std::vector<GateFigures> figures(SteadyTime now) const;

private:
    struct Entry {
        std::optional<Gate> gate{};
        bool holds = false;  // The gate is in force. One that is not is kept for the permits that are out.
        std::size_t ungated = 0;               // Calls under way that have no permit.
        std::vector<Gate::Permit> admitted{};  // Permits of those, since there is a gate.
    };

    void put(const Subject& subject, GateTerms terms, SteadyTime now);

    std::map<Subject, Entry> entries_;
    std::multimap<Subject, SteadyTime> before_;  // What occupies gates that do not exist yet.
};

}  // namespace sluice
