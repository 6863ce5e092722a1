#pragma once

#include "store/postgres/slots/pool_share.hpp"

// What is true of candidates that are decided together.
namespace sluice::postgres {

std::vector<Candidate*> pointers_to(std::vector<Candidate>& candidates);

// Those without an outcome.
std::vector<Candidate*> undecided(std::span<Candidate*> group);

// Refuses all of these.
void refuse_rest(std::span<Candidate*> group, const SlotError& error);

// Who of the group was refused, and stands first among those; null when nobody was.
const Candidate* first_refused(std::span<Candidate*> group);

// Nothing is left to decide, or the first that fails is known: nobody before it is undecided.
bool is_settled(std::span<Candidate*> group);

// It has no slot of before, as far as is known.
bool is_new(const Candidate& candidate);

// REQUIRES: one of the group belongs to the pool.
WindowGrid grid_of(std::span<Candidate*> group, const PoolName& pool);

// Who was placed in the last window of each pool.
std::map<PoolName, const Candidate*> furthest_placed(std::span<Candidate*> group);

}  // namespace sluice::postgres
