#include "app/dispatch/flight_table.hpp"

namespace sluice {

void FlightTable::add(Flight flight) {
    const FlightId id = ++last_;
    planned_.emplace(flight.reserved.planned, id);
    events_.insert_or_assign(flight.work.event_id.text(), id);
    flights_.emplace(id, std::move(flight));
}

Flight* FlightTable::find(FlightId id) {
    const auto found = flights_.find(id);
    return found == flights_.end() ? nullptr : &found->second;
}

bool FlightTable::has_claim(const EventId& event_id, std::uint32_t attempt) const {
    const auto found = events_.find(event_id.text());
    return found != events_.end() && flights_.at(found->second).work.attempts == attempt;
}

std::optional<FlightId> FlightTable::hand_over(SteadyTime now) {
    if (next_planned() > now || planned_.empty()) {
        return std::nullopt;
    }
    const FlightId id = planned_.begin()->second;
    planned_.erase(planned_.begin());
    flights_.at(id).stage = Flight::Stage::Handed;
    return id;
}

SteadyTime FlightTable::next_planned() const {
    return planned_.empty() ? SteadyTime::max() : planned_.begin()->first;
}

Flight FlightTable::remove(FlightId id) {
    Flight flight = std::move(flights_.extract(id).mapped());
    planned_.erase({flight.reserved.planned, id});
    const auto event = events_.find(flight.work.event_id.text());
    if (event != events_.end() && event->second == id) {
        events_.erase(event);
    }
    return flight;
}

std::vector<Flight> FlightTable::remove_planned() {
    std::vector<Flight> removed;
    while (!planned_.empty()) {
        removed.push_back(remove(planned_.begin()->second));
    }
    return removed;
}

}  // namespace sluice
