#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::kafka {

// What is wrong with the name of a topic, as one sentence; nothing: Kafka accepts it. It has 1 to 249 bytes
// of A-Z, a-z, 0-9, '.', '_' and '-', and is neither "." nor "..".
std::optional<std::string> topic_name_fault(std::string_view name);

}  // namespace sluice::kafka
