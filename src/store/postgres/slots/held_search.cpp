#include "store/postgres/slots/held_search.hpp"

#include <algorithm>
#include <set>

#include "store/postgres/slots/held_events.hpp"

namespace sluice::postgres {
namespace {

constexpr Statement kFindHeld{"find_held", "select sluice.held_events($1, $2)"};

}  // namespace

Result<std::size_t, Failure> part_held(Connection& connection, std::span<Candidate*> group) {
    ArrayText events;
    for (const Candidate* candidate : group) {
        events.add(std::string_view{candidate->command->event_id.text()});
    }
    const std::string wait = std::to_string(look_at_each_of(group.size()).count()) + "ms";
    const auto rows = connection.run(kFindHeld, Parameters{}.add(events).add(wait));
    if (!rows) {
        return Unexpected{rows.error()};
    }
    std::set<std::string_view> held;
    for (std::size_t i = 0; i < rows->size(); ++i) {
        held.insert(rows->text(i, 0));
    }
    const auto rest = std::stable_partition(group.begin(), group.end(), [&](const Candidate* candidate) {
        return !held.contains(candidate->command->event_id.text());
    });
    return static_cast<std::size_t>(rest - group.begin());
}

}  // namespace sluice::postgres
