#pragma once

#include "main/part.hpp"

namespace sluice::test {

// A part as small as parts can be, to show what adding one takes: one route, one figure, one periodic job.
PartPlan trial_part();

}  // namespace sluice::test
