#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/dispatch/flight.hpp"

namespace sluice {

// The works that this process has claimed, and the order in which they are to be sent.
// Pure: reads no clock. Thread safety: none.
class FlightTable {
public:
    void add(Flight flight);

    // Null: it is over.
    [[nodiscard]] Flight* find(FlightId id);
    [[nodiscard]] bool has_event(const EventId& event_id) const { return events_.contains(event_id.text()); }
    // This attempt of the event's.
    [[nodiscard]] bool has_claim(const EventId& event_id, std::uint32_t attempt) const;
    [[nodiscard]] std::size_t size() const { return flights_.size(); }
    [[nodiscard]] bool empty() const { return flights_.empty(); }

    // The next one whose time has come. It counts as handed over.
    std::optional<FlightId> hand_over(SteadyTime now);
    // When the next one's time comes.
    [[nodiscard]] SteadyTime next_planned() const;

    Flight remove(FlightId id);
    // All that were not handed over.
    std::vector<Flight> remove_planned();

private:
    std::unordered_map<FlightId, Flight> flights_;
    std::unordered_map<std::string, FlightId> events_;
    std::set<std::pair<SteadyTime, FlightId>> planned_;
    FlightId last_ = 0;
};

}  // namespace sluice
