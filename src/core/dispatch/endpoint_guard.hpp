#pragma once

#include <cstddef>
#include <cstdint>

#include "base/steady_clock.hpp"

namespace sluice {

// What one endpoint may be asked at the same time: few calls at first, one more with each success up to
// `most`, half as many after a failure. After kFailuresMax failures in a row it is left alone for a while,
// then asked once; the pause doubles each time that fails too, up to kPauseMax. So an endpoint that hangs
// holds few calls, and costs the others nothing.
// Pure: reads no clock. Thread safety: none.
class EndpointGuard {
public:
    static constexpr std::size_t kFirst = 8;
    static constexpr std::uint32_t kFailuresMax = 5;
    static constexpr std::chrono::seconds kPauseFirst{1};
    static constexpr std::chrono::seconds kPauseMax{60};

    // REQUIRES: most >= 1.
    explicit EndpointGuard(std::size_t most);

    // When the next call may begin: now or before, or the end of the pause; SteadyTime::max(): not before one
    // of those under way is over.
    [[nodiscard]] SteadyTime next() const;
    [[nodiscard]] bool may_begin(SteadyTime now) const { return next() <= now; }

    void begin();
    void succeeded();
    void failed(SteadyTime now);
    // It answered, and asked to be left alone until then. Neither a success nor a failure.
    void asked_to_wait(SteadyTime until);
    // It was begun, but never sent.
    void withdrawn() { --under_way_; }

    [[nodiscard]] std::size_t under_way() const { return under_way_; }
    // It is left alone, or on trial after that.
    [[nodiscard]] bool is_failing() const { return failures_ >= kFailuresMax; }
    // Nothing is under way, and nothing would be forgotten with it but how many calls it can bear.
    [[nodiscard]] bool is_idle(SteadyTime now) const {
        return under_way_ == 0 && failures_ == 0 && resumes_ <= now;
    }

private:
    std::size_t most_;
    std::size_t limit_;
    std::size_t under_way_ = 0;
    std::uint32_t failures_ = 0;  // In a row.
    bool on_trial_ = false;       // The only call under way is the one after a pause.
    std::chrono::seconds pause_{kPauseFirst};
    SteadyTime resumes_ = SteadyTime::min();
};

}  // namespace sluice
