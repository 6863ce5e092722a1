#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/steady_clock.hpp"

namespace sluice {

// When a permit comes back.
enum class RateHolds : std::uint8_t {
    Receiver,  // A second after the call was answered or given up: at most the rate arrives in any second.
    Sender,    // A second after the call began: at most the rate leaves in any second.
};

constexpr std::string_view name_of(RateHolds holds) {
    return holds == RateHolds::Sender ? "sender" : "receiver";
}

inline constexpr std::uint32_t kRateMax = 100'000;

struct GateTerms {
    std::uint32_t max_per_second;  // 1 to kRateMax.
    RateHolds holds = RateHolds::Receiver;

    bool operator==(const GateTerms&) const = default;
};

// The lower of both; Receiver, if one of them says so.
constexpr GateTerms stricter(const GateTerms& one, const GateTerms& other) {
    const bool sender = one.holds == RateHolds::Sender && other.holds == RateHolds::Sender;
    return {std::min(one.max_per_second, other.max_per_second),
            sender ? RateHolds::Sender : RateHolds::Receiver};
}

// A hard rate: at most `max_per_second` permits are out, and each stays out until a second after its call, so
// that no second, wherever it begins, sees more calls than that. Calls are spaced evenly, a sixteenth closer
// than the rate asks for, so that one which comes late is caught up with. Plans ahead: a permit may be taken
// now for a call later. Each call costs about the same however many permits are out.
// Pure: reads no clock. Thread safety: none.
class Gate {
public:
    using Permit = std::uint64_t;  // From 1 on.
    static constexpr std::chrono::seconds kSecond{1};

    // No call before `opens`: what somebody sent before this gate was made is then a second ago.
    Gate(GateTerms terms, SteadyTime opens);

    // A lower rate holds at once: permits that are out stay out.
    void change(GateTerms terms);
    // No call before `opens`, in addition to all the rest.
    void close_until(SteadyTime opens);
    [[nodiscard]] const GateTerms& terms() const { return terms_; }

    // The earliest time for the next call, as far as is known; never before the calls that are planned.
    // SteadyTime::max(): not before one that is under way is answered.
    [[nodiscard]] SteadyTime next() const;

    // A permit for a call at `when`. REQUIRES: when >= next().
    Permit take(SteadyTime when);
    // A permit for a call that is under way already: it began before it had to pass here.
    Permit admit();
    // The call's first byte is about to leave. Not before the time for which it was taken.
    void began(Permit permit, SteadyTime when);
    // The call was answered, or is given up.
    void ended(Permit permit, SteadyTime when);
    // The call was never made. Its permit can be used at once, its place in the spacing is gone.
    void withdrawn(Permit permit);
    // A permit that somebody before took, and that comes back then.
    void occupy(SteadyTime until) { add_return(until); }
    // It comes back at `when` instead. REQUIRES: when < until.
    void vacate(SteadyTime until, SteadyTime when);

    // Permits that are out at `now`.
    [[nodiscard]] std::size_t out(SteadyTime now) const;

private:
    using Began = std::optional<SteadyTime>;

    // Whether it is known when the permit of such a call comes back.
    [[nodiscard]] bool is_known(const Began& began) const {
        return terms_.holds == RateHolds::Sender && began.has_value();
    }
    void add_return(SteadyTime when);
    bool drop_return(SteadyTime when);

    GateTerms terms_;
    SteadyTime spaced_from_;  // The next call may be then, if there is a permit for it.
    std::unordered_map<Permit, Began> under_way_;
    std::size_t unknown_ = 0;         // Of those, the ones of which nobody knows when they come back.
    std::deque<SteadyTime> returns_;  // When the others come back, the earliest first; mostly added behind.
    Permit last_ = 0;
};

}  // namespace sluice
