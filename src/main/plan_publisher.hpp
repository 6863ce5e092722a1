#pragma once

#include <functional>
#include <optional>

#include "app/limits/plan_book.hpp"
#include "base/log.hpp"
#include "base/repeating.hpp"

namespace sluice {

// Tells a store which plans are in force: at once, and within a second after each change, however it came
// about. What the store did not hear is said again. A book that never had a plan is not told: it says nothing
// about the plans of other nodes.
// Thread safety: stands alone; whatever is passed outlives it and may be used by any thread.
class PlanPublisher {
public:
    // Publishing returns false when the store did not answer.
    using Publish = std::function<bool(const PlanSet&)>;

    PlanPublisher(const PlanBook& plans, Publish publish, Log& log, Runtime& runtime);

private:
    void catch_up();

    const PlanBook& plans_;
    const Publish publish_;
    Log& log_;
    std::uint64_t published_ = 0;  // The version that the store knows.
    bool failing_ = false;
    std::optional<Repeating> looks_;  // Last: they use all the rest.
};

}  // namespace sluice
