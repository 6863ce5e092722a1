#pragma once

#include <vector>

#include "app/dispatch/dispatch_terms.hpp"

namespace sluice {

// How a gate is used.
struct GateFigures {
    Subject subject;
    GateTerms terms;
    std::size_t out;  // Permits.
};

struct DispatchFigures {
    std::size_t in_flight = 0;
    std::size_t failing_endpoints = 0;
    std::vector<GateFigures> gates{};
    bool is_keeper = false;  // Of these gates: it alone sends what passes them.
};

}  // namespace sluice
