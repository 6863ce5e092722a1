#pragma once

#include <memory>

#include "app/dispatch/ledger_access.hpp"
#include "app/dispatch/work_store.hpp"

namespace sluice {

// The works of a ledger's slots. Both outlive it.
// Claims of a window are counted from its claims alone: one that was never sent keeps its place in it.
std::unique_ptr<WorkStore> make_work_ledger(LedgerAccess& ledger, WorkTables& tables);

}  // namespace sluice
