#pragma once

#include <optional>
#include <string>

#include "app/dispatch/work_draft.hpp"

// What becomes of a work by a verdict or a settlement; the same in every store.
namespace sluice {

void apply_verdict(WorkDraft& draft, const WorkVerdict& verdict, Instant now);

// A settlement of a claim that others have ended only leaves its line. The outcome: who says that the
// endpoint of the work is gone, which is to be put on hold in the same commit.
std::optional<std::string> apply_settlement(WorkDraft& draft, const Settlement& settlement, Instant now);

}  // namespace sluice
