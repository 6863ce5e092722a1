#pragma once

#include "contract/slot_store_contract.hpp"

namespace sluice::test {

// Every store there is, on data of its own that goes with it.
std::unique_ptr<StoreUnderTest> memory_ledger(StoreSettings settings, StoreSurroundings& around);
std::unique_ptr<StoreUnderTest> rocks_ledger(StoreSettings settings, StoreSurroundings& around);
// Null when tools/services has not started a PostgreSQL.
std::unique_ptr<StoreUnderTest> postgres_batch_way(StoreSettings settings, StoreSurroundings& around);
std::unique_ptr<StoreUnderTest> postgres_function_way(StoreSettings settings, StoreSurroundings& around);

}  // namespace sluice::test
