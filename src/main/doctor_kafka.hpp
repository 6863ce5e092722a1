#pragma once

#include "main/doctor_finding.hpp"
#include "main/settings.hpp"

namespace sluice {

// The Kafka that work goes to: whether a broker answers. Blocks for a few seconds at most.
Finding check_kafka(const Settings::Kafka& settings);

}  // namespace sluice
