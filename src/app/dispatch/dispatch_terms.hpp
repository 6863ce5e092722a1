#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "core/dispatch/gate.hpp"
#include "core/dispatch/retry_schedule.hpp"
#include "core/dispatch/work.hpp"

namespace sluice {

// What an operator can pause, park or give a rate.
enum class SubjectKind : std::uint8_t { Config = 1, Pool = 2, Host = 3, Endpoint = 4 };

struct Subject {
    SubjectKind kind;
    std::string name;

    auto operator<=>(const Subject&) const = default;
};

// Why nothing is sent to a subject until somebody resumes it.
struct Hold {
    enum class Why : std::uint8_t {
        Paused = 1,  // By an operator.
        Gone = 2,    // The endpoint said so (410).
    };
    Why why = Why::Paused;
    Instant since{};
    std::string by{};  // Who did it: an address and the name of a token, or the node.

    bool operator==(const Hold&) const = default;
};

// What holds for all dispatch of a store, as it was at one moment. Immutable, shared by those who use it.
struct DispatchTerms {
    std::map<Subject, Hold> holds;
    // Of pools and hosts. A pool's is the lowest of those that its active configs and an operator gave it;
    // Receiver, if any of them says so.
    std::map<Subject, GateTerms> gates;
    // Of configs that have their own.
    std::map<ConfigName, RetrySchedule> schedules;

    bool operator==(const DispatchTerms&) const = default;
};
using TermsRef = std::shared_ptr<const DispatchTerms>;

}  // namespace sluice
