#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/dispatch/gate.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

constexpr SteadyTime kStart{1000s};

// What is known of the rate: no second that begins at one of the times holds more of them.
std::size_t fullest_second(std::vector<SteadyTime> times) {
    std::sort(times.begin(), times.end());
    std::size_t most = 0;
    for (auto first = times.begin(); first != times.end(); ++first) {
        const auto last = std::lower_bound(first, times.end(), *first + 1s);
        most = std::max(most, static_cast<std::size_t>(last - first));
    }
    return most;
}

microseconds any_time(std::int64_t least, std::int64_t below) {
    return microseconds{*rc::gen::inRange<std::int64_t>(least, below)};
}

// A caller that plans ahead, wakes up late, and whose calls take their time, or are never made.
class Caller {
public:
    Caller(Gate& gate, std::int64_t latency_max) : gate_{gate}, latency_max_{latency_max} {}

    void run(std::size_t steps) {
        for (std::size_t step = 0; step < steps; ++step) {
            end_calls();
            if (gate_.next() <= now_ + ahead_) {
                plan();
            } else {
                now_ += any_time(1, 40'000);
            }
        }
    }

    void finish() {
        now_ += 1h;
        end_calls();
    }

    // Calls that are planned from now on are remembered as new ones.
    void remember_new() { is_new_ = true; }
    [[nodiscard]] const std::vector<SteadyTime>& begins() const { return begins_; }
    [[nodiscard]] const std::vector<SteadyTime>& arrivals() const { return arrivals_; }
    [[nodiscard]] const std::vector<SteadyTime>& new_arrivals() const { return new_arrivals_; }

private:
    struct Event {
        Gate::Permit permit;
        bool begins;
        bool withdrawn;
        SteadyTime ends;
        bool is_new;
    };

    void plan() {
        const SteadyTime planned = std::max(gate_.next(), now_);
        const Gate::Permit permit = gate_.take(planned);
        const SteadyTime begins = planned + any_time(0, *rc::gen::inRange(0, 10) == 0 ? 500'000 : 2'000);
        events_.emplace(begins, Event{permit, true, *rc::gen::inRange(0, 12) == 0,
                                      begins + any_time(0, latency_max_), is_new_});
    }

    void end_calls() {
        while (!events_.empty() && events_.begin()->first <= now_) {
            const auto [when, event] = *events_.begin();
            events_.erase(events_.begin());
            if (event.begins && event.withdrawn) {
                gate_.withdrawn(event.permit);
            } else if (event.begins) {
                gate_.began(event.permit, when);
                begins_.push_back(when);
                const auto length = std::chrono::duration_cast<microseconds>(event.ends - when).count();
                arrivals_.push_back(when + any_time(0, length + 1));
                if (event.is_new) {
                    new_arrivals_.push_back(arrivals_.back());
                }
                events_.emplace(event.ends, Event{event.permit, false, false, event.ends, event.is_new});
            } else {
                gate_.ended(event.permit, when);
            }
        }
    }

    Gate& gate_;
    const std::int64_t latency_max_;
    const std::chrono::milliseconds ahead_{*rc::gen::inRange(0, 200)};
    SteadyTime now_ = kStart;
    std::multimap<SteadyTime, Event> events_;
    std::vector<SteadyTime> begins_;
    std::vector<SteadyTime> arrivals_;
    std::vector<SteadyTime> new_arrivals_;
    bool is_new_ = false;
};

RC_GTEST_PROP(GateProperty, NoSecondSeesMoreArrivalsThanTheRate, ()) {
    const auto rate = *rc::gen::inRange<std::uint32_t>(1, 40);
    Gate gate{{rate}, kStart};
    Caller caller{gate, *rc::gen::element<std::int64_t>(1, 5'000, 300'000, 3'000'000)};

    caller.run(400);
    caller.finish();

    RC_ASSERT(fullest_second(caller.arrivals()) <= rate);
    RC_ASSERT(fullest_second(caller.begins()) <= rate);
}

RC_GTEST_PROP(GateProperty, NoSecondSeesMoreBeginningsThanTheRateOfSenders, ()) {
    const auto rate = *rc::gen::inRange<std::uint32_t>(1, 40);
    Gate gate{{rate, RateHolds::Sender}, kStart};
    Caller caller{gate, *rc::gen::element<std::int64_t>(1, 5'000, 300'000, 3'000'000)};

    caller.run(400);
    caller.finish();

    RC_ASSERT(fullest_second(caller.begins()) <= rate);
}

// What was under way when somebody died counts as arriving at the worst time: when its claim ends.
RC_GTEST_PROP(GateProperty, CountsWhatOthersHoldAsArrivals, ()) {
    const auto rate = *rc::gen::inRange<std::uint32_t>(2, 40);
    Gate gate{{rate}, kStart};
    std::vector<SteadyTime> arrivals;
    const auto held = *rc::gen::inRange<std::uint32_t>(1, rate + 1);
    for (std::uint32_t i = 0; i < held; ++i) {
        const SteadyTime until = kStart + any_time(0, 4'000'000);
        gate.occupy(until);
        arrivals.push_back(until - 1s);
    }
    Caller caller{gate, 5'000};

    caller.run(200);
    caller.finish();

    arrivals.insert(arrivals.end(), caller.arrivals().begin(), caller.arrivals().end());
    RC_ASSERT(fullest_second(arrivals) <= rate);
}

// Whatever was planned before: a call that is planned under the lower rate is in no second with more than
// that.
RC_GTEST_PROP(GateProperty, HoldsALowerRateFromItsFirstCallOn, ()) {
    const auto high = *rc::gen::inRange<std::uint32_t>(10, 40);
    const auto low = *rc::gen::inRange<std::uint32_t>(1, 10);
    Gate gate{{high}, kStart};
    Caller caller{gate, 20'000};
    caller.run(100);

    gate.change({low});
    caller.remember_new();
    caller.run(200);
    caller.finish();

    RC_ASSERT(fullest_second(caller.arrivals()) <= high);
    for (const SteadyTime arrival : caller.new_arrivals()) {
        std::vector<SteadyTime> before;
        std::copy_if(caller.arrivals().begin(), caller.arrivals().end(), std::back_inserter(before),
                     [&](SteadyTime other) { return other > arrival - 1s && other <= arrival; });
        RC_ASSERT(before.size() <= low);
    }
}

TEST(GateUse, IsNearlyAllThatTheLatencyLeaves) {
    for (const auto latency : {0us, 500us, 4'900us}) {
        Gate gate{{50}, kStart};
        std::size_t calls = 0;
        while (gate.next() < kStart + 60s) {
            const SteadyTime when = gate.next();
            const auto permit = gate.take(when);
            gate.began(permit, when);
            gate.ended(permit, when + latency);
            ++calls;
        }

        const double rate = static_cast<double>(calls) / 60;
        const double possible = 50 / (1 + std::chrono::duration<double>(latency).count());
        EXPECT_GE(rate, 0.97 * possible);
    }
}

}  // namespace
}  // namespace sluice::test
