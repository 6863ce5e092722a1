#pragma once

#include <vector>

#include "base/result.hpp"
#include "core/limits/limit_terms.hpp"

namespace sluice {

// At most `limit` places held at a time. A lease holds its places until it is released, or until it expires,
// so that a holder that died keeps nobody out for ever. Pure: reads no clock.
// Thread safety: immutable after make().
class Concurrency {
public:
    static constexpr Tokens kLimitMax = 1'024;

    struct Lease {
        LeaseId id{};
        std::int64_t granted = 0;  // Microseconds since 1970.
        std::int64_t places = 0;

        bool operator==(const Lease&) const = default;
    };
    // The leases that may still be held, in the order in which they were granted and expire. The newest stays
    // when it was given back, with no places: it tells how far time had come.
    using State = std::vector<Lease>;

    // Fails unless 1 <= limit <= kLimitMax and the term of a lease is positive and at most kWindowSizeMax.
    static Result<Concurrency, PlanError> make(Tokens limit, Wait term);

    [[nodiscard]] Tokens limit() const { return limit_; }
    [[nodiscard]] Wait term() const { return term_; }
    // NOLINTNEXTLINE(readability-convert-member-functions-to-static): all rules answer this.
    [[nodiscard]] State fresh() const { return {}; }

    // Denied: retry_after is when enough leases will have expired, if nobody releases one before. A clock
    // that has stepped back lets no lease expire earlier than the last grant has seen.
    [[nodiscard]] Standing look(const State& state, const Ask& ask) const;
    // Grants `ask.lease`.
    void charge(State& state, const Ask& ask) const;
    // Gives places back, those first that expire first: what stays never expires before what is really held.
    // Who knows the lease releases it instead.
    void refund(State& state, const Ask& ask) const;
    // Gives the places of `ask.lease` back. False when it is not held: released or expired before.
    bool release(State& state, const Ask& ask) const;
    [[nodiscard]] Moment idle_at(const State& state) const;

    bool operator==(const Concurrency&) const = default;

private:
    Concurrency(Tokens limit, Wait term) : limit_{limit}, term_{term} {}

    [[nodiscard]] std::size_t gone(const State& state, Moment now) const;
    [[nodiscard]] Moment expires(const Lease& lease) const { return moment_of(lease.granted) + term_; }

    Tokens limit_;
    Wait term_;
};

}  // namespace sluice
