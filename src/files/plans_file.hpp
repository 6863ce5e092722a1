#pragma once

#include <string>
#include <vector>

#include "app/limits/plan_book.hpp"
#include "base/result.hpp"

namespace sluice {

// Reads a YAML file with a list `plans:`. Fails with one sentence that names the file and, where it is about
// one, the plan: the file cannot be read, is not YAML, or holds a key that is unknown (naming the nearest
// known one), twice, or of the wrong type. What the fields mean is for make_plan() to check.
Result<std::vector<PlanDraft>, std::string> read_plans_file(const std::string& path);

// Puts the file's plans in force, all of them or none. Fails with one sentence that names the file.
Result<void, std::string> load_plans_file(const std::string& path, PlanBook& book);

}  // namespace sluice
