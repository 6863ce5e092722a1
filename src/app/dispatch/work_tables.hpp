#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/dispatch/work_store.hpp"
#include "app/slots/pool_id.hpp"

namespace sluice {

// A place in a lane; they sort by time, then by event.
struct LanePoint {
    Instant due{};
    std::string event_id{};

    auto operator<=>(const LanePoint&) const = default;
};

struct LaneSpot {
    Lane lane;
    LanePoint point;

    bool operator==(const LaneSpot&) const = default;
};

// Where work stands. Nothing: it is final and stands nowhere.
inline std::optional<LaneSpot> spot_of(const Work& work) {
    return is_final(work.state) ? std::nullopt
                                : std::optional{LaneSpot{work.lane, {work.due, work.event_id.text()}}};
}

// A work as it is stored.
struct WorkRow {
    Work work;
    std::uint32_t lines = 0;  // How many the audit has of it.

    bool operator==(const WorkRow&) const = default;
};

struct WorkChange {
    std::optional<LaneSpot> left;  // Where it stood before. The place of the row is where it stands then.
    WorkRow row;                   // Replaces what was stored.
};
struct NewOrder {
    EventId event_id;
    std::shared_ptr<const WorkOrder> order;
};
struct EventLine {
    EventId event_id;
    std::uint32_t number;
    AuditLine line;
};
struct SubjectLine {
    Subject subject;
    std::uint64_t number;
    AuditLine line;
};
// What a pool has sent in a window.
struct SentRow {
    PoolId pool;
    WindowIndex window;
    Places sent;  // 0: the row goes.
    Places late = 0;
};
struct HoldChange {
    Subject subject;
    std::optional<Hold> hold;  // Nothing: it is let go.
};
struct RateChange {
    Subject subject;
    std::optional<GateTerms> rate;  // Nothing: it has none any more.
};
// A permit that was given to somebody outside.
struct LentPermit {
    Subject gate;
    Instant until;  // By the clock of the store.

    bool operator==(const LentPermit&) const = default;
};
struct PermitChange {
    std::string id;
    std::optional<LentPermit> lent;  // Nothing: it is over.
};

// Everything about work that one commit changes.
struct WorkChanges {
    std::vector<NewOrder> orders{};
    std::vector<WorkChange> works{};  // Each event once.
    std::vector<EventLine> lines{};
    std::vector<SubjectLine> subject_lines{};
    std::vector<SentRow> sent{};
    std::vector<HoldChange> holds{};
    std::vector<RateChange> rates{};
    std::vector<PermitChange> permits{};

    [[nodiscard]] bool empty() const {
        return works.empty() && lines.empty() && subject_lines.empty() && sent.empty() && holds.empty() &&
               rates.empty() && permits.empty();
    }
};

// What is kept in memory of dispatch.
struct DispatchTables {
    std::map<Subject, Hold> holds;
    std::map<Subject, GateTerms> rates;
    std::map<std::string, LentPermit> permits;  // By their ids.
    std::vector<SentRow> sent;
    std::uint64_t next_subject_line = 0;
};

// The tables of works: plain rows, found by key. Written with the slots, by SlotTables::commit().
// Thread safety: all of it.
class WorkTables {
public:
    virtual ~WorkTables() = default;

    // One answer per event, in order. REQUIRES: ascending and distinct.
    virtual Result<std::vector<std::optional<WorkRow>>, StoreError> find(
        std::span<const std::string_view> event_ids) = 0;
    virtual Result<std::vector<std::optional<WorkOrder>>, StoreError> orders(
        std::span<const std::string_view> event_ids) = 0;

    // The points of a lane from `from` on, in ascending order until the sink says false.
    using PointSink = std::function<bool(const LanePoint&)>;
    virtual Result<void, StoreError> scan_lane(const Lane& lane, const LanePoint& from,
                                               const PointSink& sink) = 0;
    // All in which something stands.
    virtual Result<std::vector<Lane>, StoreError> lanes() = 0;
    // Works of events behind this one, in ascending order until the sink says false.
    using WorkSink = std::function<bool(const WorkRow&)>;
    virtual Result<void, StoreError> scan_works(std::string_view after, const WorkSink& sink) = 0;
    // The lines of an event from number `first` on.
    virtual Result<std::vector<AuditLine>, StoreError> lines(const EventId& event_id,
                                                             std::uint32_t first) = 0;
    virtual Result<DispatchTables, StoreError> load() = 0;
};

}  // namespace sluice
