#pragma once

#include <cstdint>
#include <string>

namespace sluice::kafka {

// What became of a message.
enum class Outcome : std::uint8_t {
    Delivered,     // All replicas that have to acknowledge it have it.
    NotPersisted,  // It is certainly not on its topic, and will not come to be: trying again doubles nothing.
    Unknown,       // It may be on its topic. Trying again may double it.
};

struct Report {
    Outcome outcome = Outcome::Delivered;
    std::string reason{};         // One sentence without its full stop. Empty: Delivered.
    bool retry_may_help = false;  // False, and not Delivered: Kafka will refuse this message every time.
};

}  // namespace sluice::kafka
