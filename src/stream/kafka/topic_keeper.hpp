#pragma once

#include <atomic>
#include <string>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "base/repeating.hpp"
#include "stream/kafka/cluster.hpp"

namespace sluice::kafka {

// Makes a topic as soon as a broker can be asked, and knows whether it is there. Why it is not is logged once
// for each reason.
// Thread safety: all of it; stop() and the end not within a job of the runtime.
class TopicKeeper {
public:
    struct World {
        Log& log;
        Runtime& runtime;
    };
    TopicKeeper(Access access, TopicTerms topic, World world);

    // Whether it was there when it was last looked for.
    [[nodiscard]] bool is_there() const { return there_.load(std::memory_order_relaxed); }
    // Looks again, as after the brokers were away: they may be others. Until it has, the old answer holds.
    void look_again() { looking_.nudge(); }
    void stop() { looking_.stop(); }

private:
    Repeating::Pause look();

    const Access access_;
    const TopicTerms topic_;
    const World world_;
    Backoff backoff_;                  // The job's, like the next.
    std::string complaint_;            // Told last.
    std::atomic<bool> there_ = false;  // Relaxed: it guards nothing but itself.
    Repeating looking_;                // Last: it uses all the rest.
};

}  // namespace sluice::kafka
