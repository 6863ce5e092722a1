#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/dispatch/dispatch_figures.hpp"
#include "core/dispatch/gate.hpp"

namespace sluice {

// A call that another process makes, or somebody outside: it keeps permits of these subjects until then.
struct OutsideCall {
    std::vector<Subject> subjects;
    SteadyTime until;
};
using OutsideCalls = std::map<std::string, OutsideCall>;  // By what tells them apart.

// The gates of pools and hosts, how many calls of this process are under way to those that have none, and
// what others have under way: should a subject get a gate, it begins with all of them. Pure: reads no clock.
// Thread safety: none.
class GateBook {
public:
    // A way through the gate of a subject. 0: it had none.
    struct Pass {
        Subject subject;
        Gate::Permit permit = 0;
    };
    // A gate that is new to this process may be new to others. What they claimed without it may begin until
    // so long afterwards.
    static constexpr std::chrono::seconds kOthersBegin{3};

    // Makes gates what the terms say. A new one opens a second after it is sure that nothing goes past it:
    // what was sent without it is then a second ago, and what is still under way has its permits.
    void apply(const DispatchTerms& terms, SteadyTime now);
    // The same for one subject.
    void apply(const Subject& subject, const DispatchTerms& terms, SteadyTime now);

    // Nobody else sends anything, now or ever. REQUIRES: there are no gates yet.
    void be_alone() { alone_ = true; }
    // All that others have under way, as it was at a moment after `asked`. What was there before and is not
    // any more is over since some time between, and keeps its permits for another second.
    void count_outside(const OutsideCalls& calls, SteadyTime asked, SteadyTime now);
    // When that should be counted again; SteadyTime::max(): there is nothing to be learned.
    [[nodiscard]] SteadyTime next_count() const;
    // Others may have sent until now.
    void close(SteadyTime now);

    // When the next call may begin; SteadyTime::min(): there is no gate.
    [[nodiscard]] SteadyTime next(const Subject& subject) const;
    // REQUIRES: there is one.
    [[nodiscard]] RateHolds holds(const Subject& subject) const {
        return entries_.at(subject).gate->terms().holds;
    }

    // REQUIRES: when >= next(subject).
    Pass take(const Subject& subject, SteadyTime when);
    void began(const Pass& pass, SteadyTime when);
    void ended(const Pass& pass, SteadyTime when);
    void withdrawn(const Pass& pass, SteadyTime now);
    // Somebody outside makes the call, and may be at it until then.
    void lend(const Pass& pass, const std::string& key, SteadyTime until, SteadyTime now);
    // That call is over. Does nothing if it is not known.
    void end_outside(const std::string& key, SteadyTime now);

    [[nodiscard]] std::vector<Subject> subjects() const;
    [[nodiscard]] std::vector<GateFigures> figures(SteadyTime now) const;

private:
    struct Entry {
        std::optional<Gate> gate{};
        bool holds = false;  // The gate is in force. One that is not is kept for the permits that are out.
        std::optional<SteadyTime> unsure{};    // It is new since then, and others may not know it yet.
        std::size_t ungated = 0;               // Calls under way that have no permit.
        std::vector<Gate::Permit> admitted{};  // Permits of those, since there is a gate.
    };

    void put(const Subject& subject, GateTerms terms, SteadyTime now);
    static void be_sure(Entry& entry, SteadyTime now);
    void occupy(const OutsideCall& call);
    [[nodiscard]] bool passes_gate(const OutsideCall& call) const;
    void vacate(const OutsideCall& call, SteadyTime now);

    std::map<Subject, Entry> entries_;
    OutsideCalls outside_;
    SteadyTime counted_ = SteadyTime::min();
    bool keeps_permits_ = false;  // Some call outside does, of a gate in force.
    bool alone_ = false;
};

}  // namespace sluice
