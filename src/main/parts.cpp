#include "main/parts.hpp"

#include "door/http/limit_desk.hpp"
#include "door/http/slot_desk.hpp"
#include "main/limits_part.hpp"
#include "main/slots_part.hpp"

namespace sluice {

std::span<const PartPlan> all_parts() {
    static constexpr std::array kParts{
        PartPlan{"slot", http::slot_routes, open_slots_part},
        PartPlan{"limit", http::limit_routes, open_limits_part},
    };
    return kParts;
}

}  // namespace sluice
