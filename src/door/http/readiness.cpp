#include "door/http/readiness.hpp"

namespace sluice::http {

AskedPart asked_part(SlotService& slots) {
    return {"slots", [&slots](UniqueFunction<void(PartState)> done) {
                slots.readiness([done = std::move(done)](Result<SlotReadiness, SlotError> told) mutable {
                    const SlotReadiness state = told ? *told : SlotReadiness{false, "unavailable"};
                    done({state.ready, state.trouble});
                });
            }};
}

AskedPart asked_part(LimitService& limits) {
    return {"limits", [&limits](UniqueFunction<void(PartState)> done) {
                // Degraded is still ready: plans answer by their on_store_failure.
                const bool refused = !limits.plans().current()->file_error().empty();
                done({true, !limits.servers().all_answer() ? "store_unavailable"
                            : refused                      ? "plans_refused"
                                                           : ""});
            }};
}

}  // namespace sluice::http
