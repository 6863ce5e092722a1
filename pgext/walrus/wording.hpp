#pragma once

#include "core/governor/governor.hpp"
#include "core/governor/wal_sizing.hpp"
#include "core/governor/wal_watch.hpp"

namespace sluice::walrus {

// What walrus.history and the functions call things. Fixed: people's queries compare them.

const char* action_word(WalAction action);

// Why a change is made, or why none is.
const char* reason_text(const WalProposal& proposal);

// The same for a dry run, where it follows what would be done.
const char* dry_run_text(const WalProposal& proposal);

const char* block_text(GovernorVerdict verdict);

// An interval as the rules see it. The measured rate counts only where walrus.proactive asks for it; a
// `p95_bytes` of 0 means that it is not known.
WalObservation observation(const WalReading& reading, const WalInterval& interval, std::int64_t p95_bytes);

}  // namespace sluice::walrus
