#pragma once

#include "app/dispatch/work_book.hpp"
#include "app/dispatch/work_drafts.hpp"

namespace sluice {

struct SettlingTerms {
    const WorkBook& book;
    Instant now;
};

// Does with the drafts what the settlements say, and adds the holds that come of them. Works that are not
// among the drafts are unknown, and nothing is kept of them.
void settle_all(std::span<const Settlement> settlements, WorkDrafts& drafts, const SettlingTerms& terms,
                WorkChanges& changes);

}  // namespace sluice
