#include "app/dispatch/work_ledger.hpp"

#include <algorithm>
#include <utility>

#include "app/dispatch/work_drafts.hpp"
#include "app/dispatch/work_lists.hpp"
#include "app/dispatch/work_settling.hpp"
#include "app/dispatch/work_steps.hpp"
#include "app/dispatch/work_take.hpp"

namespace sluice {
namespace {

constexpr std::size_t kReplayedAtOnce = 500;
constexpr std::size_t kPermitsDroppedMax = 100;  // Of those that are over, in one commit.

StoreError stopped() { return {"the ledger has stopped after a failure, and recovers by itself"}; }
StoreError full() { return {"the disk is nearly full", "Free some space; nothing is lost."}; }

bool is_dead(const Work& work) { return work.state == WorkState::Dead || work.state == WorkState::Expired; }

bool fits(const Work& work, const ReplayRequest& request) {
    return is_dead(work) && (!request.host || work.route.host == *request.host) &&
           (!request.since || work.due >= *request.since) && (!request.until || work.due < *request.until);
}

class WorkLedger final : public WorkStore {
public:
    WorkLedger(LedgerAccess& ledger, WorkTables& tables) : ledger_{ledger}, tables_{tables} {}

    Result<Taken, StoreError> take(const Lane& lane, std::size_t most, const Judge& judge) override {
        NewsAtEnd news{ledger_.news()};
        const auto lock = ledger_.lock();
        if (const auto ready = may_write(); !ready) {
            return Unexpected{ready.error()};
        }
        ledger_.state().forget_if_large();
        WorkTake take{ledger_, tables_, lane};
        const auto done = take.run(most, judge);
        if (!done) {
            ledger_.stop(done.error());
            return Unexpected{done.error()};
        }
        news.note(*done);
        return take.take_result();
    }

    Result<void, StoreError> settle(std::span<const Settlement> settlements) override {
        NewsAtEnd news{ledger_.news()};
        const auto lock = ledger_.lock();
        // Also without room: an outcome that is not stored is a call that is made again.
        if (!ledger_.recovered()) {
            return Unexpected{stopped()};
        }
        std::vector<std::string_view> ids;
        for (const Settlement& settlement : settlements) {
            ids.emplace_back(settlement.event_id.text());
        }
        return change(std::move(ids), news, [&](WorkDrafts& drafts, SlotChanges& changes) {
            settle_all(settlements, drafts, {ledger_.state().works, ledger_.now()}, changes.work);
        });
    }

    Result<std::vector<Lane>, StoreError> lanes() override {
        const auto lock = ledger_.lock();
        if (!ledger_.recovered()) {
            return Unexpected{stopped()};
        }
        auto lanes = tables_.lanes();
        if (lanes) {
            std::erase_if(*lanes, [](const Lane& lane) { return lane.kind == LaneKind::Dead; });
        }
        return lanes;
    }

    Result<std::vector<OpenClaim>, StoreError> open_claims() override {
        const auto lock = ledger_.lock();
        if (!ledger_.recovered()) {
            return Unexpected{stopped()};
        }
        const Lane lane{LaneKind::Claimed, {}};
        std::vector<std::string> ids;
        const auto scanned =
            tables_.scan_lane(lane, ledger_.state().works.start_of(lane), [&ids](const LanePoint& point) {
                ids.push_back(point.event_id);
                return true;
            });
        auto drafts = scanned ? WorkDrafts::read({ids.begin(), ids.end()}, tables_)
                              : Result<WorkDrafts, StoreError>{Unexpected{scanned.error()}};
        if (!drafts) {
            return Unexpected{std::move(drafts).error()};
        }
        const Instant now = ledger_.now();
        std::vector<OpenClaim> claims;
        for (const std::string& id : ids) {
            if (const WorkDraft* draft = drafts->find(id)) {
                const Work& work = draft->work();
                claims.push_back({work.event_id, work.attempts, work.pool, work.route,
                                  std::max(work.due - now, Duration{0})});
            }
        }
        return claims;
    }

    // A ledger has one process, which is its keeper for ever.
    [[nodiscard]] bool is_shared() const override { return false; }
    Result<std::optional<Keeping>, StoreError> keep(const std::string&) override {
        return std::optional{Keeping{.fence = 1, .lasts = Duration::max()}};
    }
    void let_go(Fence) override {}

    Result<bool, StoreError> note_permits(Fence, std::span<const OutsidePermit> permits) override {
        const auto noted = change_permits([&](const WorkBook& book, WorkChanges& changes) {
            const Instant now = ledger_.now();
            for (const auto& [id, lent] : book.permits()) {
                if (lent.until <= now && changes.permits.size() < kPermitsDroppedMax) {
                    changes.permits.push_back({id, std::nullopt});
                }
            }
            for (const OutsidePermit& permit : permits) {
                changes.permits.push_back({permit.id, LentPermit{permit.gate, now + permit.left}});
            }
        });
        return noted ? Result<bool, StoreError>{true} : Unexpected{noted.error()};
    }
    Result<void, StoreError> drop_permits(std::span<const std::string> ids) override {
        return change_permits([&](const WorkBook& book, WorkChanges& changes) {
            for (const std::string& id : ids) {
                if (book.permits().contains(id)) {
                    changes.permits.push_back({id, std::nullopt});
                }
            }
        });
    }
    Result<std::vector<OutsidePermit>, StoreError> outside_permits() override {
        const auto lock = ledger_.lock();
        if (!ledger_.recovered()) {
            return Unexpected{stopped()};
        }
        const Instant now = ledger_.now();
        std::vector<OutsidePermit> permits;
        for (const auto& [id, lent] : ledger_.state().works.permits()) {
            if (now < lent.until) {
                permits.push_back({id, lent.gate, lent.until - now});
            }
        }
        return permits;
    }

    Result<TermsRef, StoreError> terms() override {
        const auto lock = ledger_.lock();
        if (!ledger_.recovered()) {
            return Unexpected{stopped()};
        }
        return ledger_.state().works.terms(ledger_.state().book);
    }

    Result<void, StoreError> hold(const Subject& subject, const Hold& hold) override {
        return change_terms(
            [&](const WorkBook& book, WorkChanges& changes) {
                if (!book.holds().contains(subject)) {
                    changes.holds.push_back({subject, hold});
                    changes.holds.back().hold->since = ledger_.now();
                    return std::optional{line(AuditLine::Action::Paused, hold.by)};
                }
                return std::optional<AuditLine>{};
            },
            subject);
    }

    Result<void, StoreError> release(const Subject& subject, const std::string& by) override {
        return change_terms(
            [&](const WorkBook& book, WorkChanges& changes) {
                if (book.holds().contains(subject)) {
                    changes.holds.push_back({subject, std::nullopt});
                    return std::optional{line(AuditLine::Action::Resumed, by)};
                }
                return std::optional<AuditLine>{};
            },
            subject);
    }

    Result<void, StoreError> put_rate(const Subject& subject, std::optional<GateTerms> rate,
                                      const std::string& by) override {
        return change_terms(
            [&](const WorkBook& book, WorkChanges& changes) {
                const auto known = book.rates().find(subject);
                const auto before = known == book.rates().end() ? std::nullopt : std::optional{known->second};
                if (before != rate) {
                    changes.rates.push_back({subject, rate});
                    return std::optional{line(AuditLine::Action::Rated, by)};
                }
                return std::optional<AuditLine>{};
            },
            subject);
    }

    Result<std::optional<WorkStory>, StoreError> find(const EventId& event_id) override {
        const auto lock = ledger_.lock();
        return find_story(event_id, tables_, ledger_.state().works.holds());
    }

    Result<WorkPage, StoreError> list(const WorkFilter& filter) override {
        std::map<Subject, Hold> holds;
        {
            const auto lock = ledger_.lock();
            if (!ledger_.recovered()) {
                return Unexpected{stopped()};
            }
            holds = ledger_.state().works.holds();
        }
        // Without the lock: a page may read many rows, and nobody must wait for that.
        return list_works(tables_, filter, holds);
    }

    Result<std::uint64_t, StoreError> replay(const ReplayRequest& request, const std::string& by) override {
        // First of all: while the tables are closed nothing could be read, and nobody would open them.
        {
            const auto lock = ledger_.lock();
            if (const auto ready = may_write(); !ready) {
                return Unexpected{ready.error()};
            }
        }
        if (!request.event_ids.empty()) {
            std::vector<std::string_view> ids;
            for (const EventId& id : request.event_ids) {
                ids.emplace_back(id.text());
            }
            return replay_some(std::move(ids), request, by);
        }
        // What dies from now on is not meant: without an end it might be replayed for ever.
        ReplayRequest bounded = request;
        const Instant end = ledger_.now() + Duration{1};
        bounded.until = std::min(request.until.value_or(end), end);
        std::uint64_t replayed = 0;
        std::optional<LanePoint> after;
        for (;;) {
            const auto points = dead_points(tables_, bounded, after, kReplayedAtOnce);
            if (!points) {
                return Unexpected{points.error()};
            }
            if (points->empty()) {
                return replayed;
            }
            std::vector<std::string_view> ids;
            for (const LanePoint& point : *points) {
                ids.emplace_back(point.event_id);
            }
            auto some = replay_some(std::move(ids), bounded, by);
            if (!some) {
                return some;
            }
            replayed += *some;
            after = points->back();
        }
    }

    Result<std::vector<LaneCount>, StoreError> counts() override {
        const auto lock = ledger_.lock();
        if (!ledger_.recovered()) {
            return Unexpected{stopped()};
        }
        return ledger_.state().works.counts(tables_);
    }

    void on_news(std::function<void(const WorkTidings&)> call) override {
        ledger_.news().on_news(std::move(call));
    }

private:
    static AuditLine line(AuditLine::Action action, const std::string& by) {
        AuditLine line;
        line.action = action;
        line.by = by;
        return line;
    }

    Result<void, StoreError> may_write() {
        if (!ledger_.recovered()) {
            return Unexpected{stopped()};
        }
        if (ledger_.room() == StoreRoom::None) {
            return Unexpected{full()};
        }
        return {};
    }

    // Reads the works of these events, lets `edit` change them, and stores the outcome.
    template <class Edit>
    Result<void, StoreError> change(std::vector<std::string_view> ids, NewsAtEnd& news, Edit edit) {
        auto drafts = WorkDrafts::read(std::move(ids), tables_, ledger_.state().works);
        if (!drafts) {
            ledger_.stop(drafts.error());
            return Unexpected{std::move(drafts).error()};
        }
        SlotChanges changes;
        edit(*drafts, changes);
        if (auto moved = drafts->move_into(changes, ledger_.state().tables); !moved) {
            ledger_.stop(moved.error());
            return moved;
        }
        return commit(changes, news);
    }

    Result<void, StoreError> commit(const SlotChanges& changes, NewsAtEnd& news) {
        if (changes.empty()) {
            return {};
        }
        const auto committed = ledger_.commit(changes);
        if (!committed) {
            return Unexpected{committed.error()};
        }
        news.note(*committed);
        return {};
    }

    template <class Edit>
    Result<void, StoreError> change_permits(Edit edit) {
        NewsAtEnd news{ledger_.news()};
        const auto lock = ledger_.lock();
        if (auto ready = may_write(); !ready) {
            return ready;
        }
        SlotChanges changes;
        edit(std::as_const(ledger_.state().works), changes.work);
        return commit(changes, news);
    }

    // `edit` adds what changes, and says what the audit keeps of it; nothing: it changes nothing.
    template <class Edit>
    Result<void, StoreError> change_terms(Edit edit, const Subject& subject) {
        NewsAtEnd news{ledger_.news()};
        const auto lock = ledger_.lock();
        if (auto ready = may_write(); !ready) {
            return ready;
        }
        const WorkBook& book = ledger_.state().works;
        SlotChanges changes;
        if (auto line = edit(book, changes.work)) {
            line->at = ledger_.now();
            changes.work.subject_lines.push_back({subject, book.next_subject_line(), std::move(*line)});
        }
        return commit(changes, news);
    }

    Result<std::uint64_t, StoreError> replay_some(std::vector<std::string_view> ids,
                                                  const ReplayRequest& request, const std::string& by) {
        NewsAtEnd news{ledger_.news()};
        const auto lock = ledger_.lock();
        if (const auto ready = may_write(); !ready) {
            return Unexpected{ready.error()};
        }
        std::uint64_t replayed = 0;
        const auto done = change(ids, news, [&](WorkDrafts& drafts, SlotChanges&) {
            for (const std::string_view id : ids) {
                WorkDraft* draft = drafts.find(id);
                if (draft != nullptr && fits(draft->work(), request)) {
                    draft->add_line(line(AuditLine::Action::Replayed, by), ledger_.now());
                    sluice::replay(draft->change(), ledger_.now());
                    ++replayed;
                }
            }
        });
        return done ? Result<std::uint64_t, StoreError>{replayed} : Unexpected{done.error()};
    }

    LedgerAccess& ledger_;
    WorkTables& tables_;
};

}  // namespace

std::unique_ptr<WorkStore> make_work_ledger(LedgerAccess& ledger, WorkTables& tables) {
    return std::make_unique<WorkLedger>(ledger, tables);
}

}  // namespace sluice
