#pragma once

#include <string>

#include "app/dispatch/carriers.hpp"
#include "base/log.hpp"
#include "carry/webhook/webhook_carrier.hpp"
#include "main/settings.hpp"
#include "stream/kafka/producer.hpp"

namespace sluice {

// Everything that carries work out of this process.
struct OpenCarriers {
    std::unique_ptr<kafka::Producer> kafka;  // Null: no Kafka was named. One of the carriers uses it.
    Carriers all;
    WebhookCarrier* webhooks = nullptr;  // One of them.
};

// What surrounds carriers. All of it outlives them.
struct CarrierWorld {
    const Clock& clock;
    Log& log;
};

// Fails with one sentence. `listener` is where HTTP is served: when only this machine can reach it, webhooks
// may reach this machine.
Result<OpenCarriers, std::string> open_carriers(const Settings& settings, const net::HostPort& listener,
                                                const CarrierWorld& world);

// Whether there are files of secrets or headers to read again.
bool names_files(const Settings::Dispatch& settings);

}  // namespace sluice
