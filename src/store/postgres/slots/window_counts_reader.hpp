#pragma once

#include "store/postgres/client/connection_pool.hpp"
#include "store/postgres/slots/window_mirror.hpp"

namespace sluice::postgres {

// Reads counters as they are committed, on connections of the pool.
WindowMirror::SourceOf counts_reader(ConnectionSource& pool);

// The same for the cells of stratified windows.
using CellSourceOf = std::function<CellSource(const PoolName&, Duration window_size)>;
CellSourceOf cells_reader(ConnectionSource& pool);

}  // namespace sluice::postgres
