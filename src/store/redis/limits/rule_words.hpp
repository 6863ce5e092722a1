#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/limits/plan.hpp"

namespace sluice::redis {

// The five arguments that tell the script of one link: rule, cost, limit, and two numbers that mean what
// the rule's part of the script says. A capital letter is shadow mode.
void append_rule_words(std::vector<std::string>& words, const LimitRule& rule, Tokens cost, bool shadow);

}  // namespace sluice::redis
