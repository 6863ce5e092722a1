// A stratified spread keeps its promise for any history: see docs/slots.md.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "app/slots/slot_ledger.hpp"
#include "store/memory/memory_slot_tables.hpp"
#include "support/counting_metrics.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/slot_words.hpp"

namespace sluice::test {
namespace {

struct Turn {
    int kind = 0;  // 0 to 2: a new event; 3: an old one goes; 4: an old one moves.
    int offset_ms = 0;
    int max_delay_ms = 0;  // 0: none.
    int target = 0;        // Which old one.
};

std::ostream& operator<<(std::ostream& out, const Turn& turn) {
    return out << "{kind " << turn.kind << ", offset " << turn.offset_ms << ", delay " << turn.max_delay_ms
               << ", target " << turn.target << '}';
}

rc::Gen<std::vector<Turn>> any_history() {
    using rc::gen::inRange;
    return rc::gen::resize(
        400,
        rc::gen::container<std::vector<Turn>>(rc::gen::construct<Turn>(
            inRange(0, 5), inRange(0, 4000),
            rc::gen::weightedOneOf<int>({{3, rc::gen::just(0)}, {1, inRange(1, 3000)}}), inRange(0, 1000))));
}

// What a store grants, event by event.
class Ledger {
public:
    explicit Ledger(const ConfigDraft& draft) : name_{draft.name.text()} {
        RC_ASSERT(ledger_->put_config(draft).has_value());
    }

    void take(const Turn& turn, Places weight) {
        SlotAsk ask{kNoon + Duration{turn.offset_ms}, weight};
        if (turn.max_delay_ms > 0) {
            ask.max_delay = Duration{turn.max_delay_ms};
        }
        keep(run_one(*ledger_, assign(event(next_++), name_, ask)), ask);
    }
    void live(const Turn& turn, Places weight) {
        if (turn.kind < 3 || next_ == 0) {
            return take(turn, weight);
        }
        const EventId id = event(static_cast<std::size_t>(turn.target) % next_);
        if (turn.kind == 3) {
            static_cast<void>(run_one(*ledger_, CancelSlot{id}));
            slots_.erase(id);
        } else if (slots_.contains(id)) {
            SlotAsk ask{kNoon + Duration{turn.offset_ms}, 1, slots_.at(id).max_delay};
            keep(run_one(*ledger_, MoveSlot{id, ask.requested}), ask);
        }
    }

    [[nodiscard]] std::vector<Slot> slots() const {
        std::vector<Slot> result;
        for (const auto& [id, slot] : slots_) {
            result.push_back(slot);
        }
        std::ranges::sort(result, {}, &Slot::scheduled);
        return result;
    }

private:
    void keep(const SlotOutcome& outcome, const SlotAsk& ask) {
        if (!outcome) {
            RC_ASSERT(outcome.error().fault == SlotFault::Exhausted);
            return;
        }
        const Slot& slot = outcome->slot;
        RC_ASSERT(slot.scheduled >= ask.requested);
        RC_ASSERT(!ask.max_delay || slot.scheduled <= ask.requested + *ask.max_delay);
        slots_.insert_or_assign(slot.event_id, slot);
    }

    const std::string name_;
    HandClock clock_{kNoon - 1h};
    CountingMetrics metrics_;
    RecordingLog log_{LogLevel::Error};
    std::unique_ptr<SlotStore> ledger_ =
        make_slot_ledger(make_memory_slot_tables(), LedgerOptions{.seed = 3}, {clock_, metrics_, log_});
    std::map<EventId, Slot> slots_;
    std::size_t next_ = 0;
};

// Places in the fullest second, wherever it starts. REQUIRES: sorted by time.
Places fullest_second(const std::vector<Slot>& slots) {
    Places fullest = 0;
    Places held = 0;
    for (auto first = slots.begin(), last = first; last != slots.end(); ++last) {
        held += last->weight;
        for (; last->scheduled - first->scheduled >= 1s; ++first) {
            held -= first->weight;
        }
        fullest = std::max(fullest, held);
    }
    return fullest;
}

struct Cut {
    Places cap;
    Duration size;
};
rc::Gen<std::pair<int, int>> any_cut() {
    return rc::gen::pair(rc::gen::inRange(1, 80), rc::gen::element(100, 250, 999, 1000, 1500, 4000));
}
Cut cut_of(std::pair<int, int> drawn) {
    return {static_cast<Places>(std::min(drawn.first, drawn.second)), Duration{drawn.second}};
}

RC_GTEST_PROP(Spread, NoSlidingSecondHoldsMoreThanItsCells, ()) {
    const auto [cap, size] = cut_of(*any_cut());
    Ledger ledger{stratified(draft("a", cap, size))};
    for (const Turn& turn : *any_history()) {
        ledger.live(turn, 1);
    }

    const auto share = (cap * 1000 + size.count() - 1) / size.count();
    RC_ASSERT(fullest_second(ledger.slots()) <= share + 1);
    std::set<std::pair<Instant, Cell>> taken;
    for (const Slot& slot : ledger.slots()) {
        RC_ASSERT(
            taken.emplace(slot.window_start, cell_of(slot.scheduled - slot.window_start, size, cap)).second);
    }
}

// Full windows of equal weights: what lies at the edge of a second counts in full.
RC_GTEST_PROP(Spread, EqualWeightsAddNoMoreThanOneOfThem, ()) {
    const auto weight = static_cast<Places>(*rc::gen::inRange(2, 6));
    const Places cap = weight * static_cast<Places>(*rc::gen::inRange(1, 12));
    Ledger ledger{stratified(draft("a", cap, 1s))};
    for (Places i = 0; i < 4 * cap / weight; ++i) {
        ledger.take(Turn{}, weight);
    }

    RC_ASSERT(fullest_second(ledger.slots()) <= cap + weight);
}

}  // namespace
}  // namespace sluice::test
