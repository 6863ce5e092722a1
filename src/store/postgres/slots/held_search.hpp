#pragma once

#include "store/postgres/slots/pool_share.hpp"

namespace sluice::postgres {

// Asks which events of a group transactions of others are at, and puts these last; says how many come before
// them. Both parts keep their order. Takes one round trip, and waits for each that is held, longer where
// there are few: one that is put last wrongly, since its transaction was about to end, is to be tried again.
// REQUIRES: the connection has no transaction, so that nobody waits for what it holds.
Result<std::size_t, Failure> part_held(Connection& connection, std::span<Candidate*> group);

}  // namespace sluice::postgres
