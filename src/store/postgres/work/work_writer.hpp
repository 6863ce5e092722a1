#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/dispatch/work_tables.hpp"
#include "store/postgres/client/connection.hpp"

// Statements that store what a transaction has decided about works that it holds.
namespace sluice::postgres {

inline constexpr Statement kWorkCommit{"work_commit", "commit"};
inline constexpr Statement kWorkRollback{"work_rollback", "rollback"};

// A transaction that holds works waits no longer than this for its node: one that is frozen keeps nobody.
inline constexpr std::chrono::milliseconds kSilenceMax{3000};
void queue_begin(Connection& connection);
inline constexpr std::size_t kBeginStatements = 2;

// Works and lines. `routed`: events of works whose route was found out by this transaction.
using Events = std::set<std::string, std::less<>>;
void queue_changes(Connection& connection, const WorkChanges& changes, const Events& routed = {});

// When the first of the changed works is due that have come into lane Due or Dead: then others are told.
std::optional<Instant> first_news(const WorkChanges& changes);

// Says it to other nodes, once all of this is committed.
void queue_words(Connection& connection, const std::vector<std::string>& words);

// What others sent may be cut within a character, or hold a zero byte: the server would refuse all that goes
// with it.
std::string storable(std::string_view text);

inline std::int64_t to_ms(Instant instant) { return instant.time_since_epoch().count(); }

}  // namespace sluice::postgres
