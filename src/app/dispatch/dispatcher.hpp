#pragma once

#include <memory>
#include <string>

#include "app/dispatch/carriers.hpp"
#include "app/dispatch/dispatch_figures.hpp"
#include "app/dispatch/dispatch_observer.hpp"
#include "app/dispatch/work_store.hpp"
#include "base/log.hpp"
#include "base/runtime.hpp"

namespace sluice {

class PermitOffice;

struct DispatcherOptions {
    std::string node;                            // Who attempts are recorded under.
    std::size_t in_flight_max = 4096;            // Calls under way or planned.
    std::size_t take_max = 512;                  // Works that one commit claims.
    Duration plan_ahead{100};                    // Work of a gate is claimed so long before its turn.
    std::chrono::milliseconds patience{10'000};  // How long stop() waits for calls under way.
    std::uint64_t seed = 0;
};

// What surrounds the dispatcher. All of it outlives the dispatcher.
struct DispatcherWorld {
    WorkStore& store;
    const Clock& clock;  // What those outside go by.
    const Carriers& carriers;
    DispatchMetrics& metrics;
    Log& log;
    Runtime& runtime;
};

// Sends works when their time has come: claims them, hands them to carriers, settles what became of them. It
// keeps the rates of gates, the caps and shares of windows, the bounds of endpoints; and what cannot go yet
// it sets aside, so that it keeps nobody else. Of all that share a store one, the keeper, sends what passes
// gates. Claims are durable before anything is sent. Whatever fails in the store is tried again; nothing is
// sent meanwhile that was not claimed.
// Thread safety: all of it; stop() once.
class Dispatcher {
public:
    Dispatcher(DispatcherOptions options, DispatcherWorld world);
    ~Dispatcher();
    Dispatcher(const Dispatcher&) = delete;
    Dispatcher& operator=(const Dispatcher&) = delete;

    [[nodiscard]] DispatchFigures figures() const;
    // For those outside who make calls through the same gates.
    PermitOffice& permits();

    // Claims nothing any more, waits a while for the calls under way, and settles what ended. What did not
    // end is found as an open claim by the next process.
    void stop();

private:
    class Engine;

    const std::unique_ptr<Engine> engine_;
};

}  // namespace sluice
