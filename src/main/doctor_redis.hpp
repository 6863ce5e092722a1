#pragma once

#include "main/doctor_finding.hpp"
#include "main/settings.hpp"

namespace sluice {

// The Redis that limits live in: whether it can be used, and what its clock says.
void check_redis(const Settings::Redis& settings, Findings& findings);

}  // namespace sluice
