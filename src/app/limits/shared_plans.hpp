#pragma once

#include <mutex>

#include "app/limits/limit_answer.hpp"
#include "app/limits/plan_shelf.hpp"
#include "base/log.hpp"
#include "base/repeating.hpp"

namespace sluice {

// Keeps administrators' plans on a shelf that all nodes of a store share, and this node's book in step with
// it: what another node changes is in force here within a few seconds, and all of it again after a restart.
// For names that the plans file has, the file wins.
// Thread safety: all of it; what is passed outlives it.
class SharedPlans {
public:
    static constexpr std::chrono::seconds kTurn{1};

    // Looks at the shelf before it returns, and from then on each kTurn.
    SharedPlans(PlanBook& plans, PlanShelf& shelf, Log& log, Runtime& runtime);
    SharedPlans(const SharedPlans&) = delete;
    SharedPlans& operator=(const SharedPlans&) = delete;

    // Both block. On the shelf first, then in the book: what was answered stays.
    Result<std::shared_ptr<const BookedPlan>, LimitError> put(const PlanDraft& draft);
    // False: there was none.
    Result<bool, LimitError> remove(std::string_view name);

    // Takes over what is on the shelf. False: it did not answer, and the plans stay as they are.
    bool refresh();

private:
    PlanBook& plans_;
    PlanShelf& shelf_;
    Log& log_;
    std::mutex changes_;    // One change after the other: a look must not undo what is put meanwhile.
    bool failing_ = false;  // Guarded by changes_.
    std::string refused_;   // Guarded by changes_. What was wrong with plans at the last look.
    Repeating looks_;       // Last: they use all the rest.
};

}  // namespace sluice
