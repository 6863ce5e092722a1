#pragma once

#include <map>

#include "app/dispatch/ledger_access.hpp"
#include "app/dispatch/work_drafts.hpp"

namespace sluice {

// One take: what the judge says of the works of a lane, put together for one commit.
// REQUIRES: the ledger is locked and recovered.
class WorkTake {
public:
    WorkTake(LedgerAccess& ledger, WorkTables& tables, const Lane& lane)
        : ledger_{ledger}, tables_{tables}, lane_{lane}, now_{ledger.now()} {}

    // True: it was news.
    Result<bool, StoreError> run(std::size_t most, const WorkStore::Judge& judge);
    // After run().
    [[nodiscard]] Taken take_result() { return std::move(taken_); }

private:
    // Those whose time has come.
    Result<std::vector<LanePoint>, StoreError> due(std::size_t most);
    // Where the lane may have something to look at: behind the last point that was judged, or at the first
    // that was not.
    Result<LanePoint, StoreError> judge_all(const std::vector<LanePoint>& points,
                                            const WorkStore::Judge& judge);
    Result<WorkVerdict, StoreError> ask(const Work& work, const WorkStore::Judge& judge);
    // False: all behind it stay too.
    bool apply(WorkDraft& draft, const WorkVerdict& verdict);
    void count_as_sent(const Work& work);
    Result<void, StoreError> add_orders();
    Result<void, StoreError> look_ahead();

    struct Counted {
        const Pool& pool;
        WindowSends sends;
    };
    // What the pool of the work has sent in the window of now.
    Counted& counted(const Work& work);
    [[nodiscard]] static Lateness lateness(const Work& work, const Counted& counted);

    LedgerAccess& ledger_;
    WorkTables& tables_;
    const Lane& lane_;
    const Instant now_;
    WorkDrafts drafts_;
    std::map<PoolId, Counted> counted_;
    std::vector<std::string> claimed_;  // Events.
    Taken taken_;
};

}  // namespace sluice
