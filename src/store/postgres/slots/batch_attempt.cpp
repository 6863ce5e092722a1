#include "store/postgres/slots/batch_attempt.hpp"

#include <algorithm>
#include <set>

#include "app/slots/slot_errors.hpp"

namespace sluice::postgres {
namespace {

constexpr Statement kBegin{"begin", "begin isolation level read committed"};
constexpr Statement kCommit{"commit", "commit"};
// A config change takes this lock exclusively: what is read behind it holds until the end.
constexpr Statement kEnterPools{
    "enter_pools",
    "select pg_advisory_xact_lock_shared(7301, hashtext(pool)) from unnest($1::text[]) as pool"};
constexpr Statement kActiveConfigs{
    "active_configs",
    "select c.config_no from rl_event_wndw_config c where c.wndw_config_nm = any ($1) and c.act_in = 1"};
constexpr Statement kFindSlots{"find_slots",
                               "select " SLUICE_SLOT_COLUMNS
                               " from rl_event_slot_dtl d"
                               " join rl_event_wndw_config c on c.rl_wndw_config_id = d.rl_wndw_config_id"
                               " where d.event_id = any ($1)"};
constexpr Statement kStoreSlots{
    "store_slots", "select " SLUICE_SLOT_COLUMNS
                   " from sluice.store_slots(sluice.from_ms($1), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) d"
                   " join rl_event_wndw_config c on c.rl_wndw_config_id = d.rl_wndw_config_id"};
constexpr Statement kEventWait{"event_wait", "select set_config('lock_timeout', $1, true)"};
constexpr std::size_t kStatementsPerGroup = 4;  // Before those of each pool.

// As sluice.take_cells_of_all() reads it.
std::string cells_text(const Candidate& candidate) {
    std::string text = std::to_string(candidate.config->terms.max_per_window);
    for (const Cell cell : candidate.cells) {
        text += cell == candidate.cells.front() ? ':' : ',';
        text += std::to_string(cell);
    }
    return text;
}

Failure damaged(const char* what) { return {kDamagedRow, std::string{"a row of "} + what + " is damaged"}; }

}  // namespace

Result<AttemptReport, Failure> BatchAttempt::run(Connection& connection) {
    AttemptReport report;
    const auto begun = std::chrono::steady_clock::now();
    if (const auto claimed = claim_windows(); !claimed) {
        return Unexpected{claimed.error()};
    }
    report.planning = std::chrono::steady_clock::now() - begun;
    queue_reading(connection);
    const auto rows = connection.flush();
    if (!rows) {
        return Unexpected{rows.error()};
    }
    if (!configs_hold((*rows)[2])) {
        report.configs_changed = true;
        return report;
    }
    std::size_t next = kStatementsPerGroup;
    if (compares_work()) {
        auto orders = read_orders((*rows)[next++]);
        if (!orders) {
            return Unexpected{orders.error()};
        }
        orders_ = std::move(*orders);
    }
    if (const auto answered = answer_known((*rows)[3], group_); !answered) {
        return Unexpected{answered.error()};
    }
    report.knows_more = std::ranges::any_of(planned_, [](const Candidate* one) { return one->known; });
    for (auto& [pool, share] : shares_) {
        share.read((*rows)[next], (*rows)[next + 1]);
        next += PoolShare::kStatements;
    }
    place_new();
    for (const auto& [pool, share] : shares_) {
        share.tell(pool, report);
    }
    const auto stored = store(connection);
    if (!stored) {
        // Those that were found, too: no commit has vouched for them.
        std::ranges::for_each(group_, [](Candidate* candidate) { candidate->outcome.reset(); });
        report.event_held =
            stored.error().means(Meaning::Held);  // While storing, only events are waited for.
        if (!report.event_held) {
            return Unexpected{stored.error()};
        }
    }
    if (!stored || !*stored) {
        // What was planned is in no window: the mirror must not learn it.
        std::ranges::for_each(shares_, [](auto& share) { share.second.forget_all(); });
    }
    for (const auto& [pool, share] : shares_) {
        share.teach(setting_.mirror);
    }
    return report;
}

Result<void, Failure> BatchAttempt::claim_windows() {
    for (Candidate* candidate : group_) {
        const ConfigRef& config = candidate->config;
        if (config != nullptr && !candidate->known &&
            candidate->command->ask.weight <= config->terms.max_per_window) {
            shares_[config->terms.pool].add(*candidate);
            planned_.push_back(candidate);
        }
    }
    for (auto& [pool, share] : shares_) {
        if (const auto claimed = share.claim(setting_.mirror, pool, setting_.avoid); !claimed) {
            return Unexpected{Failure{kLost, claimed.error().what, true}};
        }
    }
    return {};
}

void BatchAttempt::queue_reading(Connection& connection) const {
    ArrayText pools;
    std::set<std::string_view> configs;
    ArrayText events;
    for (const auto& [pool, share] : shares_) {
        pools.add(std::string_view{pool.text()});  // Ascending, as every transaction takes them.
    }
    for (const Candidate* candidate : group_) {
        if (candidate->command->is_readable) {
            configs.insert(candidate->command->config_name.text());
        }
        events.add(std::string_view{candidate->command->event_id.text()});
    }
    ArrayText names;
    for (const std::string_view name : configs) {
        names.add(name);
    }
    connection.queue(kBegin);
    connection.queue(kEnterPools, Parameters{}.add(pools));
    connection.queue(kActiveConfigs, Parameters{}.add(names));
    connection.queue(kFindSlots, Parameters{}.add(events));
    if (compares_work()) {
        queue_reading_orders(connection, events);
    }
    for (const auto& [pool, share] : shares_) {
        share.queue_reading(connection, pool);
    }
}

bool BatchAttempt::compares_work() const {
    const auto compares = [this](const AssignSlot* command) {
        return postgres::compares_work(*command, setting_.bodies);
    };
    return setting_.bodies == Bodies::MustAgree && std::ranges::any_of(group_, [&](const Candidate* one) {
               return compares(one->command) || std::ranges::any_of(one->repeats, compares);
           });
}

const WorkOrder* BatchAttempt::order_of(const Candidate& candidate) const {
    return candidate.known ? find_order(orders_, candidate.command->event_id) : candidate.command->work.get();
}

bool BatchAttempt::configs_hold(const Rows& active) const {
    std::set<std::int64_t> numbers;
    for (std::size_t i = 0; i < active.size(); ++i) {
        numbers.insert(active.number(i, 0).value_or(0));
    }
    std::set<std::int64_t> assumed;
    for (const Candidate* candidate : group_) {
        if (candidate->config != nullptr) {
            assumed.insert(static_cast<std::int64_t>(candidate->config->id));
        }
    }
    // Equal, so that a config that was taken to be missing and now exists is noticed too.
    return numbers == assumed;
}

Result<void, Failure> BatchAttempt::answer_known(const Rows& slots, std::span<Candidate* const> asking) {
    std::map<std::string, StoredSlot, std::less<>> known;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        auto slot = read_slot(slots, i);
        if (!slot) {
            return Unexpected{damaged("rl_event_slot_dtl")};
        }
        std::string id = slot->slot.event_id.text();
        known.emplace(std::move(id), std::move(*slot));
    }
    for (Candidate* candidate : asking) {
        const auto& command = *candidate->command;
        const auto found = known.find(command.event_id.text());
        candidate->known = found != known.end();
        if (candidate->known) {
            const auto& [slot, config_name] = found->second;
            const auto answer =
                answer_repeat({slot, config_name, order_of(*candidate)}, command, setting_.bodies);
            answer ? grant(*candidate, *answer, config_name) : candidate->decide(answer);
        } else if (!command.is_readable) {
            candidate->decide(Unexpected{unknown_event(command.event_id)});
        } else if (candidate->config == nullptr) {
            candidate->decide(Unexpected{unknown_config(command.config_name)});
        } else if (command.ask.weight > candidate->config->terms.max_per_window) {
            candidate->decide(Unexpected{weight_above_cap(*candidate->config)});
        }
    }
    return {};
}

void BatchAttempt::grant(Candidate& candidate, const Granted& granted, const ConfigName& config_name) const {
    candidate.decide(granted);
    for (const AssignSlot* repeat : candidate.repeats) {
        if (auto answer =
                answer_repeat({granted.slot, config_name, order_of(candidate)}, *repeat, setting_.bodies);
            !answer) {
            candidate.decide(std::move(answer));
            candidate.refused = repeat;
            return;
        }
    }
}

void BatchAttempt::place_new() {
    for (Candidate* candidate : planned_) {
        if (candidate->outcome) {
            continue;
        }
        const SlotPolicy policy = candidate->config->policy();
        const AssignSlot& command = *candidate->command;
        const WorkMark mark = command.work == nullptr ? WorkMark::None : WorkMark::Open;
        const auto placement = shares_.at(candidate->config->terms.pool).place(*candidate, setting_.random);
        if (!placement) {
            continue;
        }
        grant(*candidate,
              Granted{Slot{command.event_id, candidate->config->id, command.ask.requested,
                           policy.grid.start_of(placement->window), placement->scheduled, command.ask.weight,
                           command.ask.max_delay, SlotState::Assigned, 0, setting_.now, mark},
                      false, placement->window - policy.grid.index_of(command.ask.requested)},
              command.config_name);
        if (*candidate->outcome) {
            candidate->cells = placement->cells;
            placed_.push_back(candidate);
        }
    }
}

bool BatchAttempt::complete() const {
    return std::ranges::all_of(group_, [](const Candidate* candidate) {
        return candidate->outcome && candidate->outcome->has_value();
    });
}

Result<bool, Failure> BatchAttempt::store(Connection& connection) {
    const bool all = setting_.completeness == Completeness::AllOrNone;
    if (placed_.empty() || (all && !complete())) {
        const auto vouched = vouch(connection);
        return vouched ? Result<bool, Failure>{false} : Unexpected{vouched.error()};
    }
    queue_storing(connection);
    if (!all) {
        connection.queue(kCommit);
    }
    const auto rows = connection.flush();
    if (!rows) {
        return Unexpected{rows.error()};
    }
    const Rows& stored_before = (*rows)[1];
    if (!stored_before.empty() && compares_work()) {
        if (const auto read = read_orders_again(connection); !read) {
            return Unexpected{read.error()};
        }
    }
    if (const auto accepted = accept(stored_before); !accepted) {
        return Unexpected{accepted.error()};
    }
    if (!all) {
        return true;
    }
    if (!complete()) {
        return false;  // Rolled back when the connection is given back.
    }
    const auto committed = connection.run(kCommit);
    return committed ? Result<bool, Failure>{true} : Unexpected{committed.error()};
}

void BatchAttempt::queue_storing(Connection& connection) {
    // Every transaction takes events in this order.
    std::ranges::sort(placed_, {}, [](const Candidate* candidate) -> const EventId& {
        return candidate->command->event_id;
    });
    ArrayText events;
    ArrayText pools;
    ArrayText configs;
    ArrayText requested;
    ArrayText windows;
    ArrayText scheduled;
    ArrayText weights;
    ArrayText delays;
    ArrayText cells;
    ArrayText brings_work;
    BroughtWorks works;
    bool in_cells = false;
    for (const Candidate* candidate : placed_) {
        const Slot& slot = (**candidate->outcome).slot;
        events.add(std::string_view{slot.event_id.text()});
        pools.add(std::string_view{candidate->config->terms.pool.text()});
        configs.add(std::string_view{config_id_text(slot.config_id)});
        requested.add(to_ms(slot.requested));
        windows.add(to_ms(slot.window_start));
        scheduled.add(to_ms(slot.scheduled));
        weights.add(std::int64_t{slot.weight});
        slot.max_delay ? delays.add(slot.max_delay->count()) : delays.add_null();
        candidate->cells.empty() ? cells.add_null() : cells.add(std::string_view{cells_text(*candidate)});
        in_cells = in_cells || !candidate->cells.empty();
        brings_work.add(std::string_view{candidate->command->work == nullptr ? "f" : "t"});
        if (candidate->command->work != nullptr) {
            works.add(slot.event_id, *candidate->command->work);
        }
    }
    connection.queue(kEventWait, Parameters{}.add(std::to_string(setting_.event_wait.count()) + "ms"));
    Parameters parameters;
    parameters.add(to_ms(setting_.now))
        .add(events)
        .add(pools)
        .add(configs)
        .add(requested)
        .add(windows)
        .add(scheduled)
        .add(weights)
        .add(delays);
    in_cells ? parameters.add(cells) : parameters.add_null();
    works.empty() ? parameters.add_null() : parameters.add(brings_work);
    connection.queue(kStoreSlots, parameters);
    if (!works.empty()) {
        works.queue_storing(connection);
    }
}

// Ends a transaction that stores nothing: what was found in rows of others must hold before it is answered.
Result<void, Failure> BatchAttempt::vouch(Connection& connection) {
    const auto is_answered = [](const Candidate* candidate) { return candidate->outcome.has_value(); };
    if (std::ranges::none_of(group_, is_answered)) {
        return {};
    }
    connection.queue(kVouch);
    connection.queue(kCommit);
    const auto committed = connection.flush();
    return committed ? Result<void, Failure>{} : Unexpected{committed.error()};
}

// Another transaction was faster with some, whose orders were not there to be read before.
Result<void, Failure> BatchAttempt::read_orders_again(Connection& connection) {
    ArrayText events;
    for (const Candidate* candidate : placed_) {
        events.add(std::string_view{candidate->command->event_id.text()});
    }
    queue_reading_orders(connection, events);
    const auto rows = connection.flush();
    auto orders = rows ? read_orders(rows->front()) : Unexpected{rows.error()};
    if (!orders) {
        return Unexpected{std::move(orders).error()};
    }
    orders_ = std::move(*orders);
    return {};
}

// Nothing: all were new. Otherwise another transaction was faster with some, and these rows are the truth.
Result<void, Failure> BatchAttempt::accept(const Rows& stored) {
    if (stored.empty()) {
        return {};
    }
    std::map<std::string, Granted, std::less<>> planned;
    for (Candidate* candidate : placed_) {
        planned.emplace(candidate->command->event_id.text(), **candidate->outcome);
        // Some were not counted.
        shares_.at(candidate->config->terms.pool)
            .forget(candidate->config->policy().grid.index_of((**candidate->outcome).slot.window_start));
    }
    if (const auto answered = answer_known(stored, placed_); !answered) {
        return Unexpected{answered.error()};
    }
    for (Candidate* candidate : placed_) {
        const Granted& own = planned.at(candidate->command->event_id.text());
        if (candidate->outcome->has_value() && (**candidate->outcome).slot == own.slot) {
            candidate->decide(own);
        }
    }
    return {};
}

}  // namespace sluice::postgres
