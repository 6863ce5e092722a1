#pragma once

#include "core/governor/checkpoint_count.hpp"

namespace sluice::walrus {

// PostgreSQL's statistics do not say why a checkpoint was requested: a CHECKPOINT by hand, a base backup and
// the amount of WAL all count alike. Its log does ("checkpoint starting: wal"), so we listen to it, inside
// the checkpointer. That needs log_checkpoints, which is on unless somebody turned it off.

// REQUIRES: called while shared_preload_libraries are loaded.
void listen_to_checkpoints();

// Whether the causes are being heard now.
bool hears_checkpoints();

// All counters as they are now. False, with a WARNING, if PostgreSQL has no statistics.
bool count_checkpoints(CheckpointCount* count);

}  // namespace sluice::walrus
