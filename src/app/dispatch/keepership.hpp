#pragma once

#include <optional>
#include <string>

#include "app/dispatch/work_store.hpp"
#include "base/steady_clock.hpp"

namespace sluice {

// Whether this process is the keeper of gates, as far as it may believe it by its own clock.
// Pure: reads no clock. Thread safety: none.
class Keepership {
public:
    struct Lease {
        Fence fence;
        BootTime until;

        bool operator==(const Lease&) const = default;
    };
    // How often one asks who is not the keeper.
    static constexpr std::chrono::seconds kAskAgain{1};

    // What the store answered to a question that was put at `asked`: whatever time passed since then is not
    // counted as ours.
    void told(const std::optional<Keeping>& keeping, BootTime asked);
    // It is not the keeper any more, or does not want to be.
    void forget(BootTime now);

    // Nothing: it is not the keeper, or its lease is over.
    [[nodiscard]] std::optional<Lease> lease(BootTime now) const;
    // When the store is to be asked again: when a third of the lease is over.
    [[nodiscard]] BootTime ask_at() const { return ask_at_; }

private:
    std::optional<Lease> lease_;
    BootTime ask_at_ = BootTime::min();
};

}  // namespace sluice
