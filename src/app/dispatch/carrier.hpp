#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/unique_function.hpp"
#include "core/dispatch/work.hpp"

namespace sluice {

// Why a target is not accepted.
struct TargetFault {
    std::string_view code;  // As users read it, for example "forbidden_address". Static storage.
    std::string detail;     // One sentence.
};

// What one call takes along. The same on every try.
struct Parcel {
    EventId event_id;
    WorkOrder order;
};

// How a call ended.
struct Delivery {
    enum class Kind : std::uint8_t {
        Done,     // It arrived and was accepted.
        Failed,   // It was not, or nobody knows; trying again may help.
        Refused,  // It was not, and trying again will not help.
        Gone,     // The endpoint wants no more of these, ever.
        NotSent,  // `may_write` said no, or nothing left before the carrier stopped.
    };
    Kind kind = Kind::Failed;
    std::uint32_t status = 0;               // The HTTP status; 0: there was no answer.
    std::optional<Duration> retry_after{};  // What the receiver asked for.
    std::string error{};                    // One sentence. Empty: Done.
    std::string excerpt{};                  // The beginning of the answer, escaped; at most kExcerptMax.
};

// How calls to a route are made.
struct CallTerms {
    Duration timeout{15'000};         // A call is answered or given up within it.
    std::size_t concurrent_max = 64;  // To one endpoint.
};

// Carries work of one kind of target out of the process.
// Thread safety: all of it.
class Carrier {
public:
    virtual ~Carrier() = default;

    // Whom a target reaches; reads text only, asks nobody. Fails for targets that must not be accepted.
    [[nodiscard]] virtual Result<Route, TargetFault> route(const Target& target) const = 0;
    // Also for a target whose address is the endpoint of a route: the terms are the same for all it covers.
    [[nodiscard]] virtual CallTerms terms(const Target& target) const = 0;

    // Asked once, immediately before the first byte of the work leaves. False: it must not.
    using MayWrite = UniqueFunction<bool()>;
    // Called once, by any thread, also within send().
    using Done = UniqueFunction<void(Delivery)>;
    // Begins one call and returns. The work is written once, never again by itself.
    virtual void send(Parcel parcel, MayWrite may_write, Done done) = 0;

    // Calls that have not begun to write are not sent any more; returns when `done` was called for all.
    virtual void stop() = 0;
};

}  // namespace sluice
