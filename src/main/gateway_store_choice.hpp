#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "app/gateway/gateway_store.hpp"
#include "main/part.hpp"

namespace sluice {

// The store of the gateway that the settings name, and how it is used.
struct ChosenGatewayStore {
    std::unique_ptr<GatewayStore> store{};
    std::size_t workers = 1;  // How many calls it serves best at once.
    // How often the sender looks for what other nodes have left. Absent: no other node shares the store.
    std::optional<std::chrono::milliseconds> look_every{};
};

// PostgreSQL if slots are there, else beside them. Fails with one sentence. Called once.
Result<ChosenGatewayStore, std::string> choose_gateway_store(const PartWorld& world);

}  // namespace sluice
