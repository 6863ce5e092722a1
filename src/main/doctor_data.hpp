#pragma once

#include "main/doctor_finding.hpp"

namespace sluice {

// What was asked for beside a look.
struct DataWishes {
    bool count_again = false;
    bool accept_loss = false;

    // The server must be stopped for these.
    [[nodiscard]] bool need_rest() const { return count_again || accept_loss; }
};

// The data folder of the embedded store: rights, format, checksums, room on its disk and, if asked, every
// counter.
void check_data(const std::string& path, DataWishes wishes, Findings& findings);

}  // namespace sluice
