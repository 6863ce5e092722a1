#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/dispatch/work_tables.hpp"
#include "app/slots/config_book.hpp"

namespace sluice {

// What a ledger keeps in memory of the tables of works: nothing that could not be read again.
// Thread safety: none.
class WorkBook {
public:
    Result<void, StoreError> load(WorkTables& tables);

    // What was committed. Says whether something came into lane Due or Dead, or terms changed.
    bool note(const WorkChanges& changes);
    void note_configs() { terms_.reset(); }

    [[nodiscard]] TermsRef terms(const ConfigBook& configs);
    [[nodiscard]] const std::map<Subject, Hold>& holds() const { return dispatch_.holds; }
    [[nodiscard]] const std::map<Subject, GateTerms>& rates() const { return dispatch_.rates; }
    [[nodiscard]] const std::map<std::string, LentPermit>& permits() const { return dispatch_.permits; }
    [[nodiscard]] std::uint64_t next_subject_line() const { return dispatch_.next_subject_line; }

    // Nothing in the lane stands before this point. A lane is left at its front, and a scan from its start
    // would pass, again and again, over all that has left.
    [[nodiscard]] LanePoint start_of(const Lane& lane) const;
    // REQUIRES: what is said here is true.
    void nothing_before(const Lane& lane, LanePoint point);

    // What the pool has sent in the window; the cap and the plan are not known here.
    [[nodiscard]] WindowSends sent_in(PoolId pool, WindowIndex window) const;
    // Adds the row that goes for a window long gone by to `changes`: a few at a time.
    void drop_old_sent(PoolId pool, WindowIndex now, WorkChanges& changes) const;

    // A work that is claimed, as it is stored: its outcome is near, and need not read it again. Null: it is
    // not claimed, or so many are that it was not kept.
    [[nodiscard]] const WorkRow* claimed(std::string_view event_id) const;

    // Counted at the first call, and kept up from then on.
    Result<std::vector<LaneCount>, StoreError> counts(WorkTables& tables);

private:
    using Window = std::pair<PoolId, WindowIndex>;

    void note_row(const WorkRow& row);
    void note_lane(const LaneSpot& spot, std::int64_t change);

    DispatchTables dispatch_;
    std::map<Window, SentRow> sent_;
    std::map<Lane, LanePoint> starts_;
    std::map<std::string, WorkRow, std::less<>> claimed_;  // By event.
    std::optional<std::map<LaneKind, std::int64_t>> counts_;
    TermsRef terms_;
};

// As it is shown: an endpoint that was let go keeps nothing parked, though the row says so until it is next
// looked at.
void show_truly(Work& work, const std::map<Subject, Hold>& holds);

}  // namespace sluice
