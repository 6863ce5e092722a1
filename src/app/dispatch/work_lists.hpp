#pragma once

#include "app/dispatch/work_tables.hpp"

// What is shown of works. Reads only what is stored, a bounded number of rows each time.
namespace sluice {

using Holds = std::map<Subject, Hold>;

// Nothing: the event brought no work.
Result<std::optional<WorkStory>, StoreError> find_story(const EventId& event_id, WorkTables& tables,
                                                        const Holds& holds);

Result<WorkPage, StoreError> list_works(WorkTables& tables, const WorkFilter& filter, const Holds& holds);

// Points of the lane of the dead that lie within the request, behind `after`; at most `most`.
Result<std::vector<LanePoint>, StoreError> dead_points(WorkTables& tables, const ReplayRequest& request,
                                                       const std::optional<LanePoint>& after,
                                                       std::size_t most);

}  // namespace sluice
