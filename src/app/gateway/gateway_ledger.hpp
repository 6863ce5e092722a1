#pragma once

#include <memory>

#include "app/gateway/gateway_store.hpp"
#include "app/gateway/gateway_tables.hpp"
#include "base/log.hpp"

namespace sluice {

// What surrounds a ledger, and outlives it.
struct GatewayLedgerWorld {
    const Clock& clock;
    Log& log;
};

// The store of the gateway over tables of this process: it has all rules, the tables have none. After a write
// whose outcome is unknown it refuses everything until the tables were opened again, at most every 200 ms.
std::unique_ptr<GatewayStore> make_gateway_ledger(std::unique_ptr<GatewayTables> tables,
                                                  GatewayLedgerWorld world);

}  // namespace sluice
