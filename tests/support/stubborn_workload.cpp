#include "support/stubborn_workload.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/slot_words.hpp"

namespace sluice::test {
namespace {

// Requests by number: two versions of the config, and groups of commands between and behind them.
constexpr std::size_t kFirstVersion = 0;
constexpr std::size_t kSecondVersion = 7;
constexpr std::size_t kRequests = 14;
constexpr Duration kRecoveryPause{200};
constexpr int kAttemptsMax = 10;

const SlotError* error_of(const SlotReply& reply) {
    if (const auto* each = std::get_if<EachOutcome>(&reply)) {
        return each->front() ? nullptr : &each->front().error();
    }
    if (const auto* all = std::get_if<AllOutcome>(&reply)) {
        return *all ? nullptr : &all->error().error;
    }
    const auto& one = std::get<SlotOutcome>(reply);
    return one ? nullptr : &one.error();
}

// Time for another attempt; the third is the last that a lasting fault spoils.
void pause(const LoadedWorld& world, int attempt) {
    world.clock.advance(kRecoveryPause);
    if (attempt == 2) {
        world.heal();
    }
}

}  // namespace

void StubbornWorkload::run(const LoadedWorld& world) {
    while (next_ < kRequests && !testing::Test::HasFatalFailure()) {
        insist(world);
    }
}

void StubbornWorkload::run_until_failure(SlotStore& store) {
    while (next_ < kRequests && attempt(store)) {
        ++next_;
    }
}

void StubbornWorkload::check(SlotStore& store) const {
    for (const auto& [id, slot] : acknowledged_) {
        const auto story = store.find(id);
        ASSERT_TRUE(story) << id.text() << " was acknowledged and is lost";
        const bool may_have_changed = unanswered_.contains(id);
        const bool in_history = std::find(story->past.begin(), story->past.end(), slot) != story->past.end();
        EXPECT_TRUE(story->slot == slot || (may_have_changed && in_history))
            << testing::PrintToString(story->slot)
            << " is not what was acknowledged: " << testing::PrintToString(slot);
    }
}

StubbornWorkload::Group StubbornWorkload::commands_of(std::size_t group) {
    Group commands;
    for (std::size_t i = 0; i < 3; ++i) {
        commands.emplace_back(assign(event(group * 10 + i), "a", SlotAsk{kNoon}));
    }
    commands.emplace_back(AssignAll{{assign(event(group * 10 + 5), "a", SlotAsk{kNoon, 2}),
                                     assign(event(group * 10 + 6), "a", SlotAsk{kNoon + 1h})}});
    commands.emplace_back(AssignEach{{assign(event(group * 10 + 7), "a", SlotAsk{kNoon}),
                                      assign(event(group * 10 + 8), "a", SlotAsk{kNoon + 1h})}});
    if (group % 3 == 1) {
        commands.emplace_back(CancelSlot{event((group - 1) * 10)});
        commands.emplace_back(MoveSlot{event((group - 1) * 10 + 1), kNoon + 2h});
    }
    return commands;
}

void StubbornWorkload::insist(const LoadedWorld& world) {
    for (int attempts = 0; attempts < kAttemptsMax; ++attempts) {
        const std::size_t committed = world.committed();
        if (attempt(world.store)) {
            ++next_;
            return;
        }
        ASSERT_EQ(world.committed(), committed) << "stored, but said not to be";
        // Before the pause is over nothing happens at all.
        ASSERT_FALSE(attempt(world.store));
        pause(world, attempts);
    }
    FAIL() << "the store does not recover";
}

bool StubbornWorkload::attempt(SlotStore& store) {
    if (next_ == kFirstVersion || next_ == kSecondVersion) {
        return store.put_config(draft("a", next_ == kFirstVersion ? 2 : 3, 1s)).has_value();
    }
    return attempt(store, commands_of(next_ - (next_ > kSecondVersion ? 2 : 1)));
}

bool StubbornWorkload::attempt(SlotStore& store, const Group& commands) {
    const auto replies = store.execute(commands);
    EXPECT_EQ(replies.size(), commands.size());
    if (error_of(replies[0]) == nullptr) {
        keep(replies);
        return true;
    }
    for (const SlotReply& reply : replies) {
        const SlotError* error = error_of(reply);
        EXPECT_TRUE(error != nullptr && error->fault == SlotFault::Unavailable)
            << "a group is answered as a whole";
    }
    for (const SlotCommand& command : commands) {
        if (const auto* cancel = std::get_if<CancelSlot>(&command)) {
            unanswered_.insert(cancel->event_id);
        } else if (const auto* move = std::get_if<MoveSlot>(&command)) {
            unanswered_.insert(move->event_id);
        }
    }
    return false;
}

void StubbornWorkload::keep(const std::vector<SlotReply>& replies) {
    const auto keep_one = [this](const Granted& granted) {
        unanswered_.erase(granted.slot.event_id);
        acknowledged_.insert_or_assign(granted.slot.event_id, granted.slot);
    };
    for (const SlotReply& reply : replies) {
        ASSERT_EQ(error_of(reply), nullptr) << error_of(reply)->detail;
        if (const auto* one = std::get_if<SlotOutcome>(&reply)) {
            keep_one(**one);
            continue;
        }
        if (const auto* each = std::get_if<EachOutcome>(&reply)) {
            std::for_each(each->begin(), each->end(), [&](const SlotOutcome& one) { keep_one(one.value()); });
            continue;
        }
        for (const Granted& granted : *std::get<AllOutcome>(reply)) {
            keep_one(granted);
        }
    }
}

}  // namespace sluice::test
