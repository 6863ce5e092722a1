#pragma once

#include <memory>

#include "store/rocks/client/folder.hpp"
#include "store/rocks/gateway/gateway_table_set.hpp"

namespace sluice {

// The rows of the gateway in a folder, which lives as long as one of its users does.
// REQUIRES: the folder was opened with this set.
std::unique_ptr<GatewayTables> make_rocks_gateway_tables(std::shared_ptr<rocks::Folder> folder,
                                                         std::shared_ptr<const rocks::GatewayTableSet> set);

}  // namespace sluice
