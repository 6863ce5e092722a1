#include "app/dispatch/work_outcomes.hpp"

#include "app/dispatch/work_steps.hpp"

namespace sluice {
namespace {

struct Judged {
    WorkDraft& draft;
    const Instant now;

    void operator()(const ClaimIt& verdict) const { claim(draft.change(), now + verdict.lease); }
    void operator()(const SetAside& verdict) const { set_aside(draft.change(), verdict); }
    void operator()(const TryAgain& verdict) const {
        draft.add_line(verdict.line, now);
        wait_in_due(draft.change(), now + verdict.pause);
        draft.change().state = WorkState::Retrying;
    }
    void operator()(const GiveUp& verdict) const {
        draft.add_line(verdict.line, now);
        give_up(draft.change(), verdict.state, now);
    }
    void operator()(const LeaveIt&) const {}
};

struct Settled {
    Work& work;
    const Instant now;

    void operator()(const Settlement::Done&) const { close(work, WorkState::Sent, now); }
    void operator()(const Settlement::Again& again) const { wait_in_due(work, now + again.pause); }
    void operator()(const Settlement::Failed&) const { give_up(work, WorkState::Dead, now); }
    void operator()(const Settlement::NotSent&) const { take_back_claim(work, now); }
    void operator()(const Settlement::Parked&) const { park(work, now); }
};

}  // namespace

void apply_verdict(WorkDraft& draft, const WorkVerdict& verdict, Instant now) {
    std::visit(Judged{draft, now}, verdict);
}

std::optional<std::string> apply_settlement(WorkDraft& draft, const Settlement& settlement, Instant now) {
    const Work& work = draft.work();
    const bool is_open = work.state == WorkState::Claimed && work.attempts == settlement.attempt;
    if (!std::holds_alternative<Settlement::NotSent>(settlement.after)) {
        draft.add_line(settlement.line, now);
    }
    if (!is_open) {
        return std::nullopt;
    }
    std::visit(Settled{draft.change(), now}, settlement.after);
    const auto* const parked = std::get_if<Settlement::Parked>(&settlement.after);
    return parked != nullptr ? std::optional{parked->by} : std::nullopt;
}

}  // namespace sluice
