#include "app/dispatch/work_settling.hpp"

#include <algorithm>

#include "app/dispatch/work_outcomes.hpp"

namespace sluice {
namespace {

void hold_endpoint(const std::string& name, const std::string& by, const SettlingTerms& terms,
                   WorkChanges& changes) {
    const Subject endpoint{SubjectKind::Endpoint, name};
    if (terms.book.holds().contains(endpoint) ||
        std::ranges::find(changes.holds, endpoint, &HoldChange::subject) != changes.holds.end()) {
        return;
    }
    changes.holds.push_back({endpoint, Hold{Hold::Why::Gone, terms.now, by}});
    AuditLine line;
    line.action = AuditLine::Action::Paused;
    line.at = terms.now;
    line.by = by;
    changes.subject_lines.push_back(
        {endpoint, terms.book.next_subject_line() + changes.subject_lines.size(), std::move(line)});
}

}  // namespace

void settle_all(std::span<const Settlement> settlements, WorkDrafts& drafts, const SettlingTerms& terms,
                WorkChanges& changes) {
    for (const Settlement& settlement : settlements) {
        WorkDraft* draft = drafts.find(settlement.event_id.text());
        if (draft == nullptr) {
            continue;
        }
        if (const auto by = apply_settlement(*draft, settlement, terms.now)) {
            hold_endpoint(draft->work().route.endpoint, *by, terms, changes);
        }
    }
}

}  // namespace sluice
