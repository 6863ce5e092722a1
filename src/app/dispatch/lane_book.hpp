#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "base/steady_clock.hpp"
#include "core/dispatch/work.hpp"

namespace sluice {

// What the first work of a lane waits for.
enum class Awaits : std::uint8_t {
    Time,    // Its own time, or the next window.
    Permit,  // The gate of its pool or host.
    Turn,    // The same, and the other lane of the pool comes first.
    Guard,   // Its endpoint.
    Resume,  // Somebody who ends a pause.
    Keeper,  // The keeper of gates, which this process is not.
};

// Lanes in which something stands, and when each is to be looked at again. Those that can be looked at now
// come one after the other, the one that waited longest first.
// Pure: reads no clock. Thread safety: none.
class LaneBook {
public:
    // More are not remembered; `is_missing` says so.
    static constexpr std::size_t kLanesMax = 100'000;

    [[nodiscard]] bool contains(const Lane& lane) const { return lanes_.contains(lane); }
    // Nothing: the lane is not known.
    [[nodiscard]] std::optional<Awaits> awaits(const Lane& lane) const;

    // The lane is to be looked at then, and not before.
    void put(const Lane& lane, Awaits awaits, SteadyTime wake);
    // At the latest then.
    void wake_by(const Lane& lane, SteadyTime wake);
    // Nothing stands in it.
    void erase(const Lane& lane);
    void wake_all(SteadyTime now);

    // One that can be looked at, in the place of which it goes behind all others that can be.
    [[nodiscard]] std::optional<Lane> ready(SteadyTime now) const;
    // When the next one can be.
    [[nodiscard]] SteadyTime next_wake() const;

    // Lanes were left out, and there is room for them again: the store has to be asked which there are.
    [[nodiscard]] bool is_missing() const { return missing_ && lanes_.size() < kLanesMax / 2; }
    void none_missing() { missing_ = false; }

private:
    struct Entry {
        Awaits awaits = Awaits::Time;
        SteadyTime wake;
        std::uint64_t turn = 0;
    };
    struct Place {
        SteadyTime wake;
        std::uint64_t turn;
        Lane lane;
        auto operator<=>(const Place&) const = default;
    };

    std::map<Lane, Entry> lanes_;
    std::set<Place> order_;
    std::uint64_t turns_ = 0;
    bool missing_ = false;
};

}  // namespace sluice
