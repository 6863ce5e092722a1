#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "app/slots/slot_store.hpp"
#include "support/hand_clock.hpp"

namespace sluice::test {

// One thing that a random history does, in small numbers that rapidcheck can shrink.
struct Step {
    int kind = 0;       // See what_of() in command_stream.cpp.
    int event = 0;      // Few events, so that they meet again.
    int config = 0;     // Of three: two share a pool, the third looks ahead a little only.
    int offset_ms = 0;  // Of the requested time.
    int weight = 1;
    int max_delay_ms = 0;  // 0: none.
};
std::ostream& operator<<(std::ostream& out, const Step& step);

rc::Gen<std::vector<Step>> any_steps();

// A reply in words, complete enough that equal words mean equal replies.
std::string describe(const SlotReply& reply);

struct StreamOptions {
    // Commands wait until `cut` says true, then run as one batch. Config changes end a batch.
    std::function<bool()> cut = [] { return true; };
    // Called after each batch with its commands and replies.
    std::function<void(const std::vector<SlotCommand>&, const std::vector<SlotReply>&)> after_batch =
        [](const auto&, const auto&) {};
};

// Runs the steps on a fresh store and tells every reply in order. The clock moves with config changes only.
std::vector<std::string> run_stream(const std::vector<Step>& steps, SlotStore& store, HandClock& clock,
                                    const StreamOptions& options);

}  // namespace sluice::test
