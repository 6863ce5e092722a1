#include <cstdlib>
#include <map>

#include "base/random.hpp"
#include "contract/stores_under_test.hpp"

// The same history on every store: all must answer the same. Only the offset inside a window is drawn by each
// for itself; it must lie where the rules allow.
namespace sluice::test {
namespace {

constexpr std::size_t kActions = 120;
constexpr Duration kUsualSize = 1s;

// One thing that happens: a change of a config, a jump of the clock, or a batch of commands.
struct Action {
    std::optional<ConfigDraft> draft;
    Duration jump{0};
    std::vector<SlotCommand> commands;
};

struct ConfigShape {
    std::string_view name;
    std::string_view pool;
    std::optional<std::int64_t> lookahead;
    Spread spread = Spread::Random;
};
// Three pools, each with several caps; one config sees an end of its reach soon, one has its windows cut into
// cells, which it shares with others.
constexpr std::array<ConfigShape, 6> kConfigs{{{"low", "shared", {}},
                                               {"high", "shared", {}},
                                               {"near", "other", 4},
                                               {"far", "other", {}},
                                               {"even", "cells", {}, Spread::Stratified},
                                               {"uneven", "cells", {}}}};

// Draws a history that depends on nothing but its seed.
class Script {
public:
    explicit Script(std::uint64_t seed) : random_{seed}, misreading_{~seed} {}

    std::vector<Action> write() {
        std::vector<Action> actions;
        for (const ConfigShape& shape : kConfigs) {
            actions.push_back({draft_of(shape, kUsualSize), {}, {}});
        }
        while (actions.size() < kActions) {
            actions.push_back(next());
        }
        return actions;
    }

private:
    Action next() {
        const auto kind = random_.below(100);
        const ConfigShape& shape = kConfigs.at(random_.below(kConfigs.size()));
        if (kind < 15) {
            return {draft_of(shape, kUsualSize), {}, {}};
        }
        if (kind < 22) {
            return {draft_of(shape, random_.below(2) == 0 ? 2s : 1s), {}, {}};
        }
        if (kind < 26) {
            base_ += 1h;  // What was asked for lies in the past now; some goes on asking for it.
            return {{}, 1h, {}};
        }
        Action action;
        for (std::uint64_t left = 1 + random_.below(12); left > 0; --left) {
            action.commands.push_back(command());
        }
        return action;
    }

    ConfigDraft draft_of(const ConfigShape& shape, Duration size) {
        auto made = sharing(shape.pool, draft(shape.name, static_cast<Places>(1 + random_.below(6)), size));
        made.max_lookahead = shape.lookahead;
        made.spread = shape.spread;
        return made;
    }

    SlotCommand command() {
        const auto kind = random_.below(100);
        if (kind < 12) {
            return CancelSlot{some_event()};
        }
        if (kind < 24) {
            return MoveSlot{some_event(), some_time()};
        }
        if (kind < 34) {
            return AssignEach{several()};
        }
        if (kind < 44) {
            return AssignAll{several()};
        }
        return assignment();
    }

    std::vector<AssignSlot> several() {
        std::vector<AssignSlot> events;
        for (std::uint64_t left = 2 + random_.below(6); left > 0; --left) {
            events.push_back(assignment());
        }
        events.push_back(events.front());  // Equal ids in one batch are one event.
        return events;
    }

    AssignSlot assignment() {
        SlotAsk ask{some_time()};
        if (random_.below(10) < 3) {
            ask.weight = static_cast<Places>(1 + random_.below(4));
        }
        const ConfigShape& shape = kConfigs.at(random_.below(kConfigs.size()));
        // Whether a cell is free before max_delay ends is left to chance.
        if (random_.below(4) == 0 && shape.spread == Spread::Random) {
            ask.max_delay = Duration{static_cast<Duration::rep>(1 + random_.below(5000))};
        }
        const bool unknown = random_.below(50) == 0;
        const auto config_name = unknown ? "nowhere" : shape.name;
        const bool again = random_.below(5) == 0;
        AssignSlot made = assign(again ? some_event() : event(events_++), config_name, ask);
        made.is_readable = misreading_.below(20) > 0;
        return made;
    }

    EventId some_event() { return event(random_.below(events_ + 2)); }  // Some were never heard of.

    Instant some_time() {
        const Instant base = random_.below(10) == 0 ? kNoon : base_;
        return base + Duration{static_cast<Duration::rep>(random_.below(6000))};
    }

    Random random_;
    Random misreading_;
    Instant base_ = kNoon;
    std::size_t events_ = 0;
};

// One store that lives through a history, and what it said, without what is left to chance.
class Witness {
public:
    explicit Witness(const StoreKind& kind) : name_{kind.name}, world_{kind.make({}, around_)} {}

    [[nodiscard]] bool present() const { return world_ != nullptr; }
    [[nodiscard]] const std::string& name() const { return name_; }

    std::vector<std::string> live(const Action& action) {
        around_.clock.advance(action.jump);
        told_.clear();
        if (action.draft) {
            const auto put = world_->store().put_config(*action.draft);
            if (put) {
                sizes_[put->id] = put->terms.window_size;
            }
            told_.push_back(put ? "put " + config_id_text(put->id) : words(put.error()));
        }
        if (!action.commands.empty()) {
            for (const SlotReply& reply : world_->store().execute(action.commands)) {
                std::visit([this](const auto& one) { tell(one); }, reply);
            }
        }
        return told_;
    }

    [[nodiscard]] std::vector<std::string> differences() { return world_->recount_all().differences; }

private:
    void tell(const SlotOutcome& outcome) {
        told_.push_back(outcome ? words(*outcome) : words(outcome.error()));
    }
    void tell(const EachOutcome& each) {
        for (const SlotOutcome& outcome : each) {
            tell(outcome);
        }
    }
    void tell(const AllOutcome& all) {
        if (!all) {
            told_.push_back(all.error().event_id.text() + " spoils all: " + words(all.error().error));
            return;
        }
        for (const Granted& granted : *all) {
            told_.push_back(words(granted));
        }
    }

    static std::string words(const SlotError& error) {
        return "fault " + std::to_string(static_cast<int>(error.fault));
    }

    std::string words(const Granted& granted) {
        const Slot& slot = granted.slot;
        check_time(slot);
        const auto known = slots_.find(slot.event_id);
        if (granted.repeated && (known == slots_.end() || !(known->second == slot))) {
            ADD_FAILURE() << name_ << " repeats another slot for " << slot.event_id.text();
        }
        slots_.insert_or_assign(slot.event_id, slot);
        return slot.event_id.text() + " of " + config_id_text(slot.config_id) + ": " +
               format_instant(slot.requested) + " in " + format_instant(slot.window_start) + ", weight " +
               std::to_string(slot.weight) + ", revision " + std::to_string(slot.revision) + ", state " +
               std::to_string(static_cast<int>(slot.state)) + ", since " + format_instant(slot.since) +
               (granted.repeated ? ", repeated" : "") + ", depth " + std::to_string(granted.depth);
    }

    // Neither before what was asked for, nor past the window or the longest delay.
    void check_time(const Slot& slot) const {
        EXPECT_GE(slot.scheduled, std::max(slot.requested, slot.window_start)) << name_;
        EXPECT_LT(slot.scheduled, slot.window_start + sizes_.at(slot.config_id)) << name_;
        if (slot.max_delay) {
            EXPECT_LE(slot.scheduled, slot.requested + *slot.max_delay) << name_;
        }
    }

    const std::string name_;
    StoreSurroundings around_;
    std::unique_ptr<StoreUnderTest> world_;
    std::map<ConfigId, Duration> sizes_;
    std::map<EventId, Slot> slots_;
    std::vector<std::string> told_;
};

// SLUICE_SEED repeats one history.
std::vector<std::uint64_t> seeds() {
    const char* chosen = std::getenv("SLUICE_SEED");
    return chosen != nullptr ? std::vector<std::uint64_t>{std::stoull(chosen)}
                             : std::vector<std::uint64_t>{1, 2, 4, 6};
}

class StoreDifferential : public testing::TestWithParam<std::uint64_t> {};

TEST_P(StoreDifferential, EveryStoreGivesEveryEventTheSameWindow) {
    SCOPED_TRACE("SLUICE_SEED=" + std::to_string(GetParam()));
    Witness first{{"memory", memory_ledger}};
    Witness rocks{{"embedded", rocks_ledger}};
    Witness batch{{"batch way", postgres_batch_way}};
    Witness function{{"function way", postgres_function_way}};
    if (!batch.present()) {
        GTEST_SKIP() << "SLUICE_TEST_POSTGRES is not set; tools/services starts a server";
    }
    const std::vector<Action> history = Script{GetParam()}.write();

    for (std::size_t number = 0; number < history.size(); ++number) {
        const std::vector<std::string> expected = first.live(history[number]);
        for (Witness* other : {&rocks, &batch, &function}) {
            const std::vector<std::string> told = other->live(history[number]);
            ASSERT_EQ(told.size(), expected.size()) << other->name() << testing::PrintToString(told);
            for (std::size_t i = 0; i < told.size(); ++i) {
                ASSERT_EQ(told[i], expected[i])
                    << other->name() << " differs from memory in reply " << i << " to action " << number;
            }
        }
    }

    for (Witness* one : {&first, &rocks, &batch, &function}) {
        EXPECT_THAT(one->differences(), testing::IsEmpty()) << one->name();
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, StoreDifferential, testing::ValuesIn(seeds()),
                         [](const auto& seed) { return std::to_string(seed.param); });

}  // namespace
}  // namespace sluice::test
