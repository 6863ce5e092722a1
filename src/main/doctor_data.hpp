#pragma once

#include "main/doctor_finding.hpp"

namespace sluice {

// The data folder of the embedded store: rights, format, room on its disk and, if asked, every counter.
void check_data(const std::string& path, bool count_again, Findings& findings);

}  // namespace sluice
