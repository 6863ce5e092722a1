#pragma once

#include <optional>
#include <span>

#include "store/postgres/client/connection.hpp"
#include "store/postgres/client/work_rows.hpp"

namespace sluice::postgres {

// Asks for all that is known of the work of an event, with statements that go along with others.
void queue_work_story(Connection& connection, const EventId& event_id);
inline constexpr std::size_t kWorkStoryStatements = 2;

// What they gave. Nothing: the event brought no work, or is unknown.
// REQUIRES: the rows of kWorkStoryStatements.
Result<std::optional<WorkStory>, Failure> read_work_story(std::span<const Rows> rows);

}  // namespace sluice::postgres
