#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/dispatch/carriers.hpp"
#include "app/dispatch/endpoint_book.hpp"
#include "app/dispatch/gate_book.hpp"
#include "app/dispatch/lane_book.hpp"
#include "app/dispatch/work_store.hpp"
#include "base/random.hpp"
#include "base/runtime.hpp"

namespace sluice {

// Lanes of one pool that wait for the same gate take turns: so many fresh ones, then a late one.
inline constexpr std::uint32_t kFreshInARow = 4;

// All that decides whether something can be sent now.
struct DispatchBooks {
    GateBook gates{};
    EndpointBook endpoints{};
    LaneBook lanes{};
    std::map<std::string, std::uint32_t> fresh_in_a_row{};  // By pool, since its last late one.
    std::map<Subject, std::uint32_t> lent_in_a_row{};       // By gate, since its last work.
};

// How a work may go out once its claim is durable.
struct Reservation {
    SteadyTime planned;
    BootTime begin_by;           // Later it must not begin.
    std::optional<Fence> fence;  // It passes a gate: nor when this is not in force any more.
    GateBook::Pass pool;
    std::optional<GateBook::Pass> host{};
    std::string endpoint{};
    Duration lease{};
};

// Judges the works of one take, in the order: can it be carried, is it too late, is it paused, does it
// pass a gate that another process keeps, has its window room, is it its turn at the gates, is its endpoint
// free. Takes permits for those that it claims.
// Thread safety: none.
class TakeJudge {
public:
    struct World {
        DispatchBooks& books;
        const Carriers& carriers;
        const Runtime& clock;
        Random& random;
        std::function<bool(const EventId&)> is_under_way;  // In this process.
    };
    struct Terms {
        Lane lane;
        std::string node;
        Duration plan_ahead;
        std::size_t room;            // So many may be claimed.
        std::optional<Fence> fence;  // Of the keeper of gates, if this process is.
    };
    // Why a lane is to be looked at again, and when; max(): see what it awaits.
    struct Note {
        Awaits awaits = Awaits::Time;
        SteadyTime wake = SteadyTime::max();
    };
    struct Loss {
        TargetKind target;
        bool lost;  // The outcome of a claim.
        bool died;  // Became dead or expired.
    };

    // A claim may begin so long after it was made, and is kept so much longer than its call takes.
    static constexpr std::chrono::seconds kBeginWithin{3};
    static constexpr std::chrono::seconds kLeaseBeyondCall{5};
    static_assert(kBeginWithin <= GateBook::kOthersBegin);

    TakeJudge(World world, Terms terms);

    WorkVerdict judge(const DueWork& due);

    // What it reserved for an event, if anything: the caller's from then on.
    std::optional<Reservation> collect(const EventId& event_id);
    // Gives back all that was not collected.
    void release();
    static void release(DispatchBooks& books, const Reservation& reservation, SteadyTime now);

    [[nodiscard]] const Lane& lane() const { return terms_.lane; }
    [[nodiscard]] SteadyTime began() const { return began_; }
    // Why it ended before the lane did.
    [[nodiscard]] const std::optional<Note>& stopped() const { return stopped_; }
    [[nodiscard]] const std::map<Lane, Note>& notes() const { return notes_; }
    [[nodiscard]] const std::vector<Loss>& losses() const { return losses_; }
    // The shortest pause of those that are to be tried again.
    [[nodiscard]] std::optional<Duration> soonest() const { return soonest_; }

private:
    struct Obstacle {
        Lane lane;
        Note note;
        bool parked = false;
    };

    WorkVerdict judge_claimed(const DueWork& due);
    WorkVerdict give_up(const DueWork& due, WorkState state, std::string error);
    WorkVerdict claim(const DueWork& due, const Carrier& carrier);
    WorkVerdict keep(const Obstacle& obstacle);

    std::optional<Obstacle> find_obstacle(const DueWork& due);
    [[nodiscard]] static std::optional<Obstacle> find_hold(const DueWork& due);
    [[nodiscard]] std::optional<Obstacle> find_keeper(const DueWork& due) const;
    [[nodiscard]] std::optional<Obstacle> find_queue(const DueWork& due) const;
    [[nodiscard]] std::optional<Obstacle> find_turn(const DueWork& due) const;
    [[nodiscard]] std::optional<Obstacle> find_gate(const DueWork& due) const;
    [[nodiscard]] bool wants_permit(const Lane& lane) const;
    [[nodiscard]] SteadyTime window_end(const DueWork& due) const;

    World world_;
    const Terms terms_;
    const SteadyTime began_;
    const BootTime booted_;  // The same moment.
    SteadyTime now_;
    std::size_t room_;
    std::map<EventId, Reservation> reservations_;
    std::optional<Note> stopped_;
    std::map<Lane, Note> notes_;
    std::vector<Loss> losses_;
    std::optional<Duration> soonest_;
};

}  // namespace sluice
