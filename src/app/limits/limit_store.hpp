#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/limits/chain.hpp"

namespace sluice {

inline constexpr std::size_t kLimitKeyBytesMax = 256;
inline constexpr std::size_t kPlansPerCheckMax = 16;

// Whether a key may have so many tokens of all these plans. What is pointed at stays the caller's, and must
// live until the call returns. A plan is known to a store by its name; its rule is the one given here.
struct Check {
    std::string_view key;  // 1 to kLimitKeyBytesMax bytes, opaque.
    std::span<const Plan* const> plans;
    Tokens cost = 1;  // 0: a peek.
};

enum class LimitFault : std::uint8_t {
    InvalidKey,    // Empty or too long.
    InvalidPlans,  // None, too many, or one of them twice.
    InvalidCost,   // Negative, or above what one of the plans could ever allow.
    Full,          // The store holds as many live keys as it may; this one is new.
    Contended,     // Others held the key for too long; trying again may help.
    Apart,         // Several keys that the store keeps in different places, and cannot decide together.
    Unavailable,   // The store cannot answer now.
};

// A denial is a Verdict, not a fault.
using CheckOutcome = Result<Verdict, LimitFault>;

// When an override ends: at a moment, or so long after it was put. Both by the store's clock.
using OverrideEnd = std::variant<Moment, Wait>;

// REQUIRES: 1970 <= now < 1970 + kExactMax microseconds. What no store could count with is cut to the last
// moment that it can.
inline Moment end_of(const OverrideEnd& end, Moment now) {
    const auto* const ttl = std::get_if<Wait>(&end);
    const Wait longest = moment_of(kExactMax - 1) - now;
    return ttl == nullptr ? std::get<Moment>(end) : now + std::clamp(*ttl, Wait{0}, longest);
}

// Another rule for one key in place of a plan's own, until it expires. It counts by itself: it begins fresh,
// and what the plan had counted for the key is there again afterwards. A denial's wait heeds its end.
struct LimitOverride {
    LimitRule rule;
    OverrideEnd end;
};

// How a key stands with a plan, and when its override of that plan ends, if it has one.
struct Inspection : Standing {
    std::optional<Moment> override_until;

    bool operator==(const Inspection&) const = default;
};

// Keeps the state of keys under plans, and decides. The store's own clock counts, so that callers whose
// clocks differ get the same decisions. It promises, whatever runs at the same time: each check is decided as
// by decide_chain, all of its plans are charged or none; the state of a key is never dropped while it could
// still deny. After InvalidKey, InvalidPlans, InvalidCost, Full, Contended and Apart nothing was charged;
// after Unavailable a check may or may not have been. Every call blocks until it is done. Thread safety: all
// of it.
class LimitStore {
public:
    virtual ~LimitStore() = default;

    // Where checks wait for each other. Checks of different lanes are answered by different servers: asked in
    // calls of their own, they do not suffer from each other's. lane() is below lanes(), which never changes.
    [[nodiscard]] virtual std::size_t lanes() const { return 1; }
    [[nodiscard]] virtual std::size_t lane(std::string_view /*key*/) { return 0; }
    // A caller got no answer for this key in time. The store may want to look whether its server is there.
    // Does not block.
    virtual void gave_up_on(std::string_view /*key*/) {}

    // Decides the checks as if one by one in this order. outcomes[i] answers checks[i].
    // REQUIRES: as many outcomes as checks.
    virtual void take(std::span<const Check> checks, std::span<CheckOutcome> outcomes) = 0;

    // Decides checks over several keys as one: all of them are charged, or none is. The verdict speaks for
    // all; its `plan` counts through the plans of all the checks in order.
    // InvalidPlans also: more than kPlansPerCheckMax plans altogether, or a key twice under one plan.
    // REQUIRES: at least one check.
    virtual CheckOutcome take_together(std::span<const Check> checks) = 0;

    // Gives back what a check with the same key, plans and cost took, never more than is charged now. Bad
    // checks are refused as by take().
    virtual Result<void, LimitFault> refund(const Check& check) = 0;

    // Gives a lease of a concurrency plan back. False: it was not held any more.
    virtual Result<bool, LimitFault> release(std::string_view key, const Plan& plan, LeaseId lease) = 0;

    // Forgets what these plans hold against the key, under an override too. The override itself stays.
    virtual Result<void, LimitFault> reset(std::string_view key, std::span<const Plan* const> plans) = 0;

    // How the key stands with each of the plans, as a peek sees it. Charges nothing.
    virtual Result<std::vector<Inspection>, LimitFault> inspect(std::string_view key,
                                                                std::span<const Plan* const> plans) = 0;

    // Replaces an earlier override; one that has expired already removes it. Says when it ends, by the
    // store's clock. Full: there are too many.
    virtual Result<Moment, LimitFault> put_override(std::string_view key, const Plan& plan,
                                                    const LimitOverride& replacement) = 0;
};

}  // namespace sluice
