#pragma once

#include <map>
#include <mutex>
#include <set>

#include "app/dispatch/work_tables.hpp"

namespace sluice {

// The works of slots in memory.
// Thread safety: all of it.
class MemoryWorkTables final : public WorkTables {
public:
    Result<std::vector<std::optional<WorkRow>>, StoreError> find(
        std::span<const std::string_view> event_ids) override;
    Result<std::vector<std::optional<WorkOrder>>, StoreError> orders(
        std::span<const std::string_view> event_ids) override;
    Result<void, StoreError> scan_lane(const Lane& lane, const LanePoint& from,
                                       const PointSink& sink) override;
    Result<std::vector<Lane>, StoreError> lanes() override;
    Result<void, StoreError> scan_works(std::string_view after, const WorkSink& sink) override;
    Result<std::vector<AuditLine>, StoreError> lines(const EventId& event_id, std::uint32_t first) override;
    Result<DispatchTables, StoreError> load() override;

    void apply(const WorkChanges& changes);
    // All that is kept of the event's work.
    void forget(const std::string& event_id);

private:
    std::mutex mutex_;  // Guards everything below.
    std::map<std::string, WorkRow, std::less<>> works_;
    std::map<std::string, WorkOrder, std::less<>> orders_;
    std::map<Lane, std::set<LanePoint>> lanes_;
    std::map<std::string, std::map<std::uint32_t, AuditLine>, std::less<>> lines_;
    std::map<std::uint64_t, SubjectLine> subject_lines_;
    std::map<std::pair<PoolId, WindowIndex>, SentRow> sent_;
    std::map<Subject, Hold> holds_;
    std::map<Subject, GateTerms> rates_;
    std::map<std::string, LentPermit> permits_;
};

}  // namespace sluice
