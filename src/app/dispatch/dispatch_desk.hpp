#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/dispatch/dispatcher.hpp"
#include "app/dispatch/flight_table.hpp"
#include "app/dispatch/keepership.hpp"
#include "app/dispatch/take_judge.hpp"
#include "base/random.hpp"

namespace sluice {

// What a gate said to somebody who asked for a place.
struct GatePlace {
    enum class Kind : std::uint8_t { Taken, Later, NoGate, NotKeeper };
    Kind kind;
    SteadyTime when{};  // Of the place; Later: when to ask again. Max: when a call has ended.
    RateHolds holds{};  // Taken; as the next.
    GateBook::Pass pass{};
};

// What the dispatcher knows, under one lock: gates, endpoints, lanes, the calls that are planned and under
// way, and the outcomes that are not stored yet. Sends what is planned when its time has come. Asks no store,
// so nothing here ever waits for one.
// Carriers hold on to it until they have told the end of each call.
// Thread safety: all of it.
class DispatchDesk : public std::enable_shared_from_this<DispatchDesk> {
public:
    // `wake` is called whenever the store has to be told or asked something; with the lock held.
    DispatchDesk(const DispatcherOptions& options, const DispatcherWorld& world, std::function<void()> wake);

    // What holds from now on.
    void use(const TermsRef& terms);
    [[nodiscard]] bool has_gates() const;
    // Something may be due.
    void look_at_due();
    // Something stands in these.
    void add_lanes(const std::vector<Lane>& lanes);
    // Others put something into these.
    void look_at(const std::vector<Lane>& lanes);
    [[nodiscard]] bool is_missing_lanes() const;

    // All that is under way and passes no gate of this process.
    struct Outside {
        std::vector<OpenClaim> claims;  // Of this process too: it knows which are its own.
        std::vector<OutsidePermit> permits;
        SteadyTime asked;  // Before all of that.
    };
    void count_outside(const Outside& outside);
    // When it should be counted again.
    [[nodiscard]] SteadyTime next_count() const;
    // This process is the keeper of gates until then. REQUIRES: what is outside was counted since it became
    // so.
    void keep(const Keepership::Lease& lease);
    // It is not the keeper any more. What passes gates and has not begun is given back by their carriers.
    void resign();

    // Asks the gate of a subject for a place that is not for a work.
    GatePlace take_place(const Subject& subject);
    // Somebody outside may use it, and is at it until then at the latest.
    void lend(const GatePlace& place, const std::string& id, SteadyTime until);
    void withdraw(const GatePlace& place);
    void end_lent(const std::string& id);

    // The lane to be looked at next; nothing: none, or there is no room for more calls.
    [[nodiscard]] std::optional<Lane> next_lane() const;
    // When there will be one; SteadyTime::max(): when something ends, or there is news.
    [[nodiscard]] SteadyTime next_look() const;

    // For one take of this lane.
    [[nodiscard]] TakeJudge judge_for(const Lane& lane);
    WorkVerdict judge(TakeJudge& judge, const DueWork& due);
    // The take was done: what it claimed is planned, and sent when its time has come.
    void accept(TakeJudge& judge, Taken taken);
    // It is not known whether it was done: nothing is sent.
    void abandon(TakeJudge& judge);

    // Outcomes that are to be stored; they stay here until they are.
    [[nodiscard]] std::vector<Settlement> unsettled(std::size_t most) const;
    // The first of them are stored.
    void settled(std::span<const Settlement> settlements);

    // Nothing is claimed or begins any more; what is planned only is given back.
    void stop_sending();
    // Until no call is under way, or for so long.
    void wait_for_calls(std::chrono::milliseconds patience);
    // Calls that end from now on are not heard of any more. Afterwards nothing outside is used.
    void close();

    [[nodiscard]] DispatchFigures figures() const;

private:
    void launch();
    bool may_write(FlightId id);
    void done(FlightId id, Delivery delivery);

    // With mutex_ held:
    [[nodiscard]] std::size_t room() const;
    void plan(TakeJudge& judge, Taken& taken);
    void look_again(const TakeJudge& judge, const Taken& taken);
    void finish(Flight flight, Delivery delivery);
    void give_back(const Flight& flight);
    void learn(const Flight& flight, const Delivery& delivery, SteadyTime now);
    void tell(const std::string& endpoint, EndpointBook::Change change, const std::string& error);
    void count(TargetKind target, const Settlement& settlement);
    [[nodiscard]] SteadyTime wake_of(const Lane& lane, const TakeJudge::Note& note) const;
    void place(const Lane& lane, const TakeJudge::Note& note);
    void put_new(const Lane& lane);
    void replace(const Lane& lane);
    void replace_all_of(const Reservation& reservation);
    void replace_all_of(const Subject& gate);
    // Its lease is not over.
    [[nodiscard]] bool is_keeper() const { return lease_ && clock_.boot_now() < lease_->until; }
    // It passes a gate that another process keeps.
    [[nodiscard]] bool is_others(const Lane& lane) const;
    [[nodiscard]] bool is_wanted_by_works(const Subject& gate) const;

    const DispatcherOptions options_;
    const Carriers& carriers_;
    DispatchMetrics& metrics_;
    Log& log_;
    const Runtime& clock_;
    const RetrySchedule usual_;
    mutable std::mutex mutex_;
    std::condition_variable all_ended_;  // Under mutex_: flights_ became empty.
    std::function<void()> wake_;         // Guarded by mutex_, like all that follows.
    DispatchBooks books_;
    FlightTable flights_;
    std::vector<Settlement> outcomes_;
    TermsRef terms_;
    std::optional<Keepership::Lease> lease_;  // While this process is the keeper of gates.
    Random random_;
    bool stopping_ = false;
    bool closed_ = false;
    std::unique_ptr<Timer> timer_;  // Stands on the next planned call. Last: its call uses all the rest.
};

}  // namespace sluice
