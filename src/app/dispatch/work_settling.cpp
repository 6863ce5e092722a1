#include "app/dispatch/work_settling.hpp"

#include <algorithm>

#include "app/dispatch/work_steps.hpp"

namespace sluice {
namespace {

// What becomes of a work whose claim is settled.
struct Settling {
    Work& work;
    const SettlingTerms& terms;
    WorkChanges& changes;

    void operator()(const Settlement::Done&) const { close(work, WorkState::Sent, terms.now); }
    void operator()(const Settlement::Again& again) const { wait_in_due(work, terms.now + again.pause); }
    void operator()(const Settlement::Failed&) const { give_up(work, WorkState::Dead, terms.now); }
    void operator()(const Settlement::NotSent&) const { take_back_claim(work, terms.now); }
    void operator()(const Settlement::Parked& parked) const {
        park(work, terms.now);
        const Subject endpoint{SubjectKind::Endpoint, work.route.endpoint};
        if (terms.book.holds().contains(endpoint) ||
            std::ranges::find(changes.holds, endpoint, &HoldChange::subject) != changes.holds.end()) {
            return;
        }
        changes.holds.push_back({endpoint, Hold{Hold::Why::Gone, terms.now, parked.by}});
        AuditLine line;
        line.action = AuditLine::Action::Paused;
        line.at = terms.now;
        line.by = parked.by;
        changes.subject_lines.push_back(
            {endpoint, terms.book.next_subject_line() + changes.subject_lines.size(), std::move(line)});
    }
};

}  // namespace

void settle_all(std::span<const Settlement> settlements, WorkDrafts& drafts, const SettlingTerms& terms,
                WorkChanges& changes) {
    for (const Settlement& settlement : settlements) {
        WorkDraft* draft = drafts.find(settlement.event_id.text());
        if (draft == nullptr) {
            continue;
        }
        const bool is_open =
            draft->work().state == WorkState::Claimed && draft->work().attempts == settlement.attempt;
        if (!std::holds_alternative<Settlement::NotSent>(settlement.after)) {
            draft->add_line(settlement.line, terms.now);
        }
        if (is_open) {
            std::visit(Settling{draft->change(), terms, changes}, settlement.after);
        }
    }
}

}  // namespace sluice
