#pragma once

#include "main/doctor_finding.hpp"

namespace sluice {

// The PostgreSQL that slots live on and, if asked, every counter.
void check_postgres(const std::string& dsn, bool count_again, Findings& findings);

}  // namespace sluice
