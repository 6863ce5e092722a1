#pragma once

#include "store/postgres/connection_pool.hpp"
#include "store/postgres/window_mirror.hpp"

namespace sluice::postgres {

// Reads counters as they are committed, on connections of the pool.
WindowMirror::SourceOf counts_reader(ConnectionPool& pool);

}  // namespace sluice::postgres
