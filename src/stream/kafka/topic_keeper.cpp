#include "stream/kafka/topic_keeper.hpp"

#include <random>

#include "stream/kafka/link_watch.hpp"

namespace sluice::kafka {
namespace {

constexpr Duration kPatience{3'000};
constexpr Backoff::Bounds kPauses{Duration{250}, Duration{5'000}};

}  // namespace

TopicKeeper::TopicKeeper(Access access, TopicTerms topic, World world)
    : access_{std::move(access)},
      topic_{std::move(topic)},
      world_{world},
      backoff_{kPauses, std::random_device{}()},
      looking_{world.runtime, Repeating::Pause{0},
               [this](const std::stop_token& /*stop*/) { return look(); }} {}

Repeating::Pause TopicKeeper::look() {
    const auto made = ensure_topic(access_, topic_, kPatience);
    there_.store(made.has_value(), std::memory_order_relaxed);
    if (made) {
        backoff_.reset();
        complaint_.clear();
        return Repeating::kUntilNudged;
    }
    if (made.error() != complaint_) {
        complaint_ = made.error();
        world_.log.write(LogLevel::Warn, kLogComponent,
                         "topic " + topic_.name + " cannot be used yet: " + complaint_);
    }
    return backoff_.next();
}

}  // namespace sluice::kafka
