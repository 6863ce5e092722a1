#include "support/command_stream.hpp"

#include <array>
#include <cstdlib>

#include "support/slot_words.hpp"

namespace sluice::test {
namespace {

// More cases than rapidcheck's hundred, unless RC_PARAMS says otherwise. Sanitizers are slow enough with
// those.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
[[maybe_unused]] const int kManyCases = ::setenv("RC_PARAMS", "max_success=500", 0);
#endif

enum class What { Assign, AssignEach, AssignAll, Cancel, Move, ChangeCap, ChangeWindow };

// Assignments are the most frequent.
What what_of(const Step& step) {
    constexpr std::array kWhat{What::Assign,     What::Assign,      What::Assign, What::Assign,
                               What::AssignEach, What::AssignAll,   What::Cancel, What::Move,
                               What::ChangeCap,  What::ChangeWindow};
    return kWhat.at(static_cast<std::size_t>(step.kind) % kWhat.size());
}

constexpr std::array<std::string_view, 3> kConfigs{"a", "b", "c"};

ConfigDraft draft_of(int config_number, Places cap, Duration window_size) {
    const std::string_view name = kConfigs.at(static_cast<std::size_t>(config_number));
    if (config_number == 2) {
        return looking_ahead(3, draft(name, cap, window_size));
    }
    return sharing("p", draft(name, cap, window_size));
}

AssignSlot assignment_of(const Step& step, int more) {
    SlotAsk ask{kNoon + Duration{step.offset_ms}, static_cast<Places>(step.weight)};
    if (step.max_delay_ms > 0) {
        ask.max_delay = Duration{step.max_delay_ms};
    }
    return assign(event(static_cast<std::size_t>(step.event + more)),
                  kConfigs.at(static_cast<std::size_t>(step.config)), ask);
}

SlotCommand command_of(const Step& step) {
    const EventId id = event(static_cast<std::size_t>(step.event));
    switch (what_of(step)) {
        case What::Cancel: return CancelSlot{id};
        case What::Move: return MoveSlot{id, kNoon + Duration{step.offset_ms}};
        case What::AssignEach:
            return AssignEach{{assignment_of(step, 0), assignment_of(step, 3), assignment_of(step, 0)}};
        case What::AssignAll:
            return AssignAll{{assignment_of(step, 0), assignment_of(step, 1), assignment_of(step, 0),
                              assignment_of(step, 7)}};
        default: return assignment_of(step, 0);
    }
}

std::string describe(const SlotError& error) {
    return "fault " + std::to_string(static_cast<int>(error.fault)) + ": " + error.detail + " (" +
           std::to_string(error.windows_searched) + ")";
}

std::string describe(const Granted& granted) {
    std::ostringstream out;
    PrintTo(granted.slot, &out);
    out << (granted.repeated ? ", repeated" : "") << ", depth " << granted.depth;
    return out.str();
}

std::string describe(const Result<ConfigVersion, SlotError>& result) {
    return result ? config_id_text(result->id) + " is active" : describe(result.error());
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Step& step) {
    return out << "{kind " << step.kind << ", event " << step.event << ", config " << step.config
               << ", offset " << step.offset_ms << ", weight " << step.weight << ", delay "
               << step.max_delay_ms << '}';
}

rc::Gen<std::vector<Step>> any_steps() {
    using rc::gen::inRange;
    return rc::gen::container<std::vector<Step>>(rc::gen::construct<Step>(
        inRange(0, 10), inRange(0, 40), inRange(0, 3), inRange(0, 5000), inRange(1, 5),
        rc::gen::weightedOneOf<int>({{3, rc::gen::just(0)}, {1, inRange(1, 4000)}})));
}

std::string describe(const SlotReply& reply) {
    if (const auto* one = std::get_if<SlotOutcome>(&reply)) {
        return *one ? describe(**one) : describe(one->error());
    }
    if (const auto* each = std::get_if<EachOutcome>(&reply)) {
        std::string text = "each:";
        for (const SlotOutcome& one : *each) {
            text += " [" + (one ? describe(*one) : describe(one.error())) + "]";
        }
        return text;
    }
    const auto& all = std::get<AllOutcome>(reply);
    if (!all) {
        return all.error().event_id.text() + " spoils all: " + describe(all.error().error);
    }
    std::string text = "all:";
    for (const Granted& granted : *all) {
        text += " [" + describe(granted) + "]";
    }
    return text;
}

std::vector<std::string> run_stream(const std::vector<Step>& steps, SlotStore& store, HandClock& clock,
                                    const StreamOptions& options) {
    std::vector<std::string> told;
    std::vector<SlotCommand> waiting;
    const auto flush = [&] {
        const auto replies = store.execute(waiting);
        for (const SlotReply& reply : replies) {
            told.push_back(describe(reply));
        }
        options.after_batch(waiting, replies);
        waiting.clear();
    };
    for (int config_number = 0; config_number < 3; ++config_number) {
        told.push_back(describe(store.put_config(draft_of(config_number, 3, 500ms))));
    }
    for (const Step& step : steps) {
        const What what = what_of(step);
        if (what == What::ChangeCap || what == What::ChangeWindow) {
            flush();
            clock.advance(1min);
            const auto cap = static_cast<Places>(1 + step.offset_ms % 6);
            const Duration size = what == What::ChangeWindow && step.weight > 2 ? 1000ms : 500ms;
            told.push_back(describe(store.put_config(draft_of(step.config, cap, size))));
            continue;
        }
        waiting.push_back(command_of(step));
        if (options.cut()) {
            flush();
        }
    }
    flush();
    return told;
}

}  // namespace sluice::test
