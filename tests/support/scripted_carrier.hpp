#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/dispatch/carrier.hpp"
#include "base/runtime.hpp"

namespace sluice::test {

// How one call goes.
struct ScriptedCall {
    std::chrono::nanoseconds connects{};  // From send() to the first byte.
    std::chrono::nanoseconds arrives{};   // From there to its arrival.
    std::chrono::nanoseconds answers{};   // And from there to the answer.
    Delivery delivery{.kind = Delivery::Kind::Done, .status = 200};
};

// What a receiver saw.
struct Arrival {
    std::string event_id;
    std::string endpoint;
    std::string payload;
    SteadyTime began;
    SteadyTime arrived;
};

// A carrier whose calls go as a script says, on the time of a runtime.
// Thread safety: none; for a VirtualRuntime.
class ScriptedCarrier final : public Carrier {
public:
    using Script = std::function<ScriptedCall(const Parcel&)>;

    explicit ScriptedCarrier(Runtime& runtime, CallTerms terms = {})
        : runtime_{runtime}, terms_{terms}, timer_{runtime.timer([this] { act(); })} {}

    void set_script(Script next) { script_ = std::move(next); }
    [[nodiscard]] const std::vector<Arrival>& arrivals() const { return arrivals_; }
    [[nodiscard]] std::size_t refused() const { return refused_; }

    [[nodiscard]] Result<Route, TargetFault> route(const Target& target) const override {
        return Route{.endpoint = target.address};
    }
    [[nodiscard]] CallTerms terms(const Target& /*target*/) const override { return terms_; }

    void send(Parcel parcel, MayWrite may_write, Done done) override {
        const ScriptedCall how = script_ ? script_(parcel) : ScriptedCall{};
        struct Call {
            Parcel parcel;
            MayWrite may_write;
            Done done;
        };
        const auto call =
            std::make_shared<Call>(Call{std::move(parcel), std::move(may_write), std::move(done)});
        after(how.connects, [this, how, call] {
            if (!call->may_write()) {
                ++refused_;
                call->done({.kind = Delivery::Kind::NotSent});
                return;
            }
            // The network goes on while the process stands still, or its machine sleeps.
            const SteadyTime began{runtime_.boot_now().time_since_epoch()};
            after(how.arrives, [this, how, call, began] {
                arrivals_.push_back({call->parcel.event_id.text(), call->parcel.order.route.endpoint,
                                     call->parcel.order.payload, began, began + how.arrives});
                after(how.answers, [how, call] { call->done(how.delivery); });
            });
        });
    }

    void stop() override {}

private:
    void after(std::chrono::nanoseconds length, std::function<void()> action) {
        if (length == std::chrono::nanoseconds::zero()) {
            action();
            return;
        }
        agenda_.emplace(runtime_.now() + length, std::move(action));
        timer_->set(agenda_.begin()->first);
    }

    void act() {
        while (!agenda_.empty() && agenda_.begin()->first <= runtime_.now()) {
            const auto action = std::move(agenda_.begin()->second);
            agenda_.erase(agenda_.begin());
            action();
        }
        timer_->set(agenda_.empty() ? SteadyTime::max() : agenda_.begin()->first);
    }

    Runtime& runtime_;
    const CallTerms terms_;
    Script script_;
    std::multimap<SteadyTime, std::function<void()>> agenda_;
    std::vector<Arrival> arrivals_;
    std::size_t refused_ = 0;
    const std::unique_ptr<Timer> timer_;
};

}  // namespace sluice::test
