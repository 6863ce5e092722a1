#include "stream/kafka/link_watch.hpp"

namespace sluice::kafka {
namespace {

constexpr int kEmptyLooksMax = 2;

}  // namespace

LinkWatch::LinkWatch(const LinkName& name, ClientWorld world)
    : name_{"Kafka at " + name.brokers + (name.purpose.empty() ? "" : ", for the " + name.purpose + ",")},
      world_{world} {
    state_ = {.since = world.clock.now(), .reason = name_ + " has not answered yet"};
}

LinkState LinkWatch::state() const {
    const std::lock_guard lock{mutex_};
    return state_;
}

void LinkWatch::counted(std::size_t connected) {
    if (connected > 0) {
        set_up();
        return;
    }
    // Before the first answer a slow start is nothing to tell.
    if (++empty_looks_ >= kEmptyLooksMax && state().ever_up) {
        all_down();
    }
}

void LinkWatch::all_down() { set_down(trouble_.empty() ? "no broker can be reached" : trouble_); }

void LinkWatch::set_up() {
    empty_looks_ = 0;
    {
        const std::lock_guard lock{mutex_};
        if (state_.up) {
            return;
        }
        state_ = {.up = true, .ever_up = true, .since = world_.clock.now()};
    }
    trouble_.clear();
    told_down_ = false;
    world_.log.write(LogLevel::Info, kLogComponent, name_ + " answers");
}

void LinkWatch::set_down(const std::string& reason) {
    const std::string sentence = name_ + " is down: " + reason;
    {
        const std::lock_guard lock{mutex_};
        if (state_.up) {
            state_.up = false;
            state_.since = world_.clock.now();
        }
        state_.reason = sentence;
    }
    if (!told_down_) {
        told_down_ = true;
        world_.log.write(LogLevel::Warn, kLogComponent, sentence);
    }
}

}  // namespace sluice::kafka
