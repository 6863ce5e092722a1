#pragma once

#include <string>
#include <vector>

namespace sluice {

// One thing that `sluice doctor` looked at.
struct Finding {
    std::string part;
    bool well = true;
    std::string detail;
    // What to do about it. Beside something that is well: what would let the doctor see more.
    std::string advice{};
};

using Findings = std::vector<Finding>;

// {"ok":...,"checks":[...]} and the like for people.
std::string findings_json(const Findings& findings);
std::string findings_text(const Findings& findings);

bool all_well(const Findings& findings);

}  // namespace sluice
