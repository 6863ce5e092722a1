#include "store/postgres/slots/due_bell.hpp"

#include <algorithm>

namespace sluice::postgres {
namespace {

Instant due(const Granted& granted) {
    const bool is_new =
        !granted.repeated && granted.slot.state == SlotState::Assigned && granted.slot.work == WorkMark::Open;
    return is_new ? granted.slot.scheduled : Instant::max();
}

Instant due(const SlotOutcome& outcome) { return outcome ? due(*outcome) : Instant::max(); }

template <class Given>
Instant due(const std::vector<Given>& all) {
    Instant earliest = Instant::max();
    for (const Given& one : all) {
        earliest = std::min(earliest, due(one));
    }
    return earliest;
}

Instant due(const AllOutcome& outcome) { return outcome ? due(*outcome) : Instant::max(); }

}  // namespace

Instant earliest_due(std::span<const SlotReply> replies) {
    Instant earliest = Instant::max();
    for (const SlotReply& reply : replies) {
        earliest = std::min(earliest, std::visit([](const auto& one) { return due(one); }, reply));
    }
    return earliest;
}

}  // namespace sluice::postgres
