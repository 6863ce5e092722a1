#include "store/memory/memory_limit_store.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <mutex>
#include <new>
#include <stdexcept>

#include "store/memory/counter_clock.hpp"
#include "store/memory/key_hash.hpp"
#include "store/memory/limit_chains.hpp"
#include "store/memory/limit_overrides.hpp"
#include "store/memory/plan_numbers.hpp"
#include "store/memory/prefetch.hpp"

namespace sluice {
namespace {

constexpr std::size_t kKeysMax = std::size_t{1} << 31U;

bool is_key(std::string_view key) { return !key.empty() && key.size() <= kLimitKeyBytesMax; }

class MemoryLimits final : public MemoryLimitStore {
public:
    MemoryLimits(const MemoryLimitOptions& options, const MomentClock& clock)
        : clock_{clock},
          counter_{dynamic_cast<const CounterClock*>(&clock)},
          hash_{options.seed},
          shards_{options.keys_max, options.list_bytes_max},
          chains_{options, shards_},
          overrides_{shards_, options.overrides_max} {}

    void take(std::span<const Check> checks, std::span<CheckOutcome> outcomes) override {
        assert(checks.size() == outcomes.size());
        if (checks.size() == 1) {
            take_one(checks[0], hash_(checks[0].key), outcomes[0]);
        } else {
            take_many(checks, outcomes);
        }
    }

    CheckOutcome take_together(std::span<const Check> checks) override {
        assert(!checks.empty());
        return guarded([&] { return take_chain(checks); });
    }

    Result<void, LimitFault> refund(const Check& check) override {
        return guarded([&] { return give_back(check); });
    }

    Result<bool, LimitFault> release(std::string_view key, const Plan& plan, LeaseId lease) override {
        return guarded([&] { return end_lease(key, plan, lease); });
    }

    Result<void, LimitFault> reset(std::string_view key, std::span<const Plan* const> plans) override {
        return guarded([&] { return forget(key, plans); });
    }

    Result<std::vector<Inspection>, LimitFault> inspect(std::string_view key,
                                                        std::span<const Plan* const> plans) override {
        return guarded([&] { return standings_of(key, plans); });
    }

    Result<Moment, LimitFault> put_override(std::string_view key, const Plan& plan,
                                            const LimitOverride& replacement) override {
        return guarded([&] { return override_rule(key, plan, replacement); });
    }

    [[nodiscard]] MemoryLimitFigures figures() const override {
        return {shards_.held(), chains_.refused(), shards_.expired(), shards_.list_bytes()};
    }

private:
    static constexpr std::size_t kAhead = 16;

    // No exception crosses a port. What is called has changed nothing when memory is wanting.
    template <class Call>
    static auto guarded(Call call) -> decltype(call()) {
        try {
            return call();
        } catch (const std::bad_alloc&) {
            return Unexpected{LimitFault::Unavailable};
        }
    }

    // Without a call, where the clock is the one that most stores have.
    [[nodiscard]] Moment read_clock() const { return counter_ != nullptr ? counter_->now() : clock_.now(); }

    // --- Taking ---

    void prefetch(const Check& check, std::uint64_t hash) {
        if (check.plans.empty()) {
            return;
        }
        const EntryName name = named(check.key, numbers_.find(*check.plans[0]), hash);
        prefetch_to_change(&shards_.of(hash));
        prefetch_to_change(shards_.home_of(hash, name));
    }

    // The lines that a few checks need come from memory together.
    [[gnu::noinline]] void take_many(std::span<const Check> checks, std::span<CheckOutcome> outcomes) {
        std::array<std::uint64_t, kAhead> hashes{};
        for (std::size_t first = 0; first < checks.size(); first += kAhead) {
            const std::size_t count = std::min(kAhead, checks.size() - first);
            for (std::size_t i = 0; i < count; ++i) {
                hashes[i] = hash_(checks[first + i].key);
                prefetch(checks[first + i], hashes[i]);
            }
            for (std::size_t i = 0; i < count; ++i) {
                take_one(checks[first + i], hashes[i], outcomes[first + i]);
            }
        }
    }

    void take_one(const Check& check, std::uint64_t hash, CheckOutcome& outcome) {
        if (!take_known(check, hash, outcome)) {
            take_the_long_way(check, outcome);
        }
    }

    // Not inline: the short way would make room for what only this needs.
    [[gnu::noinline]] void take_the_long_way(const Check& check, CheckOutcome& outcome) {
        outcome = take_together({&check, 1});
    }

    // The short way, for most checks: one plan, a short key that is known, no override, no lease. False: go
    // the long way, nothing has changed.
    bool take_known(const Check& check, std::uint64_t hash, CheckOutcome& outcome) {
        const bool is_common = check.plans.size() == 1 && check.cost >= 0 &&
                               check.key.size() - 1 < LimitEntry::kShortKeyMax;  // The empty one wraps.
        if (!is_common) {
            return false;
        }
        const LimitRule& rule = check.plans[0]->rule();
        // The most common rule first, where the compiler can see through it.
        const auto* const bucket = std::get_if<TokenBucket>(&rule);
        return bucket != nullptr ? take_known_by(*bucket, check, hash, outcome)
                                 : take_known_by_other(rule, check, hash, outcome);
    }

    [[gnu::noinline]] bool take_known_by_other(const LimitRule& rule, const Check& check, std::uint64_t hash,
                                               CheckOutcome& outcome) {
        try {
            return std::visit(
                [&](const auto& each) {
                    constexpr bool kLeases = std::is_same_v<std::remove_cvref_t<decltype(each)>, Concurrency>;
                    return !kLeases && take_known_by(each, check, hash, outcome);
                },
                rule);
        } catch (const std::bad_alloc&) {  // A log that had to grow.
            outcome = Unexpected{LimitFault::Unavailable};
            return true;
        }
    }

    // Inline, because a call and what it saves are a twentieth of a check.
    template <class Rule>
    [[gnu::always_inline]] bool take_known_by(const Rule& rule, const Check& check, std::uint64_t hash,
                                              CheckOutcome& outcome) {
        const Plan& plan = *check.plans[0];
        const auto number = numbers_.find(plan);
        if (number == PlanNumbers::kNone || check.cost > rule.limit()) {
            return false;
        }
        const EntryName name = named(check.key, number, hash);
        LimitShard& shard = shards_.of(hash);
        LimitEntry* const home = shards_.home_of(hash, name);
        prefetch_to_change(&shard);
        prefetch_to_change(home);
        const Ask ask{read_clock(), check.cost};  // Read while the lines are on their way.
        Standing standing;
        {
            const std::lock_guard lock{shard.lock};
            LimitEntry* const entry = shard.table.find_short(home, name, kind_of<Rule>());
            if (entry == nullptr || !shard.overrides.empty() || !StateIn<Rule>::has_room(*entry)) {
                return false;
            }
            standing = decide_known(*entry, rule, ask);
            if (entry->idle_at < shard.earliest_idle) {  // Where the plan has changed.
                shard.earliest_idle = entry->idle_at;
            }
        }
        answer(outcome, plan, standing);
        return true;
    }

    [[gnu::noinline]] CheckOutcome take_chain(std::span<const Check> checks) {
        Links links;
        for (const Check& check : checks) {
            if (const auto fault = add_links(check, links)) {
                return Unexpected{*fault};
            }
        }
        return chains_.take(links, read_clock());
    }

    // Says what is wrong with a check, or adds a link for each of its plans.
    std::optional<LimitFault> add_links(const Check& check, Links& links) {
        if (!is_key(check.key)) {
            return LimitFault::InvalidKey;
        }
        if (check.plans.empty() || check.plans.size() > kPlansPerCheckMax - links.count) {
            return LimitFault::InvalidPlans;
        }
        if (check.cost < 0) {
            return LimitFault::InvalidCost;
        }
        const std::uint64_t hash = hash_(check.key);
        LimitShard* const shard = &shards_.of(hash);
        for (const Plan* plan : check.plans) {
            const auto number = numbers_.number_of(*plan);
            const EntryName name = named(check.key, number, hash);
            if (number == PlanNumbers::kNone || has_link(links, name)) {
                return LimitFault::InvalidPlans;
            }
            links.items[links.count++] = {plan, check.cost, shard, name, &plan->rule(), nullptr, {}};
        }
        return std::nullopt;
    }

    // --- Everything else ---

    Result<void, LimitFault> give_back(const Check& check) {
        Links links;
        if (const auto fault = add_links(check, links)) {
            return Unexpected{*fault};
        }
        const Ask ask{read_clock(), check.cost};
        const LinkLocks locks{links};
        find_links(links, ask.now);
        if (!are_affordable(links)) {
            return Unexpected{LimitFault::InvalidCost};
        }
        for (const Link& link : links) {
            if (link.entry != nullptr) {
                change(*link.entry, *link.rule,
                       [&](const auto& rule, auto& state) { rule.refund(state, ask); });
                link.shard->earliest_idle = std::min(link.shard->earliest_idle, link.entry->idle_at);
            }
        }
        return {};
    }

    Result<bool, LimitFault> end_lease(std::string_view key, const Plan& plan, LeaseId lease) {
        const std::array<const Plan*, 1> plans{&plan};
        Links links;
        if (const auto fault = add_links({key, plans, 0}, links)) {
            return Unexpected{*fault};
        }
        const Moment now = read_clock();
        const LinkLocks locks{links};
        find_links(links, now);
        const Link& link = links.items[0];
        if (link.entry == nullptr || !std::holds_alternative<Concurrency>(*link.rule)) {
            return false;
        }
        bool held = false;
        change(*link.entry, *link.rule, [&](const auto& rule, auto& state) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(rule)>, Concurrency>) {
                held = rule.release(state, {now, 0, lease});
            }
        });
        return held;
    }

    Result<void, LimitFault> forget(std::string_view key, std::span<const Plan* const> plans) {
        Links links;
        if (const auto fault = add_links({key, plans, 0}, links)) {
            return Unexpected{*fault};
        }
        const LinkLocks locks{links};
        for (const Link& link : links) {
            shards_.forget(*link.shard, link.name);
            shards_.forget(*link.shard, overriding(link.name, 0));
        }
        return {};
    }

    Result<std::vector<Inspection>, LimitFault> standings_of(std::string_view key,
                                                             std::span<const Plan* const> plans) {
        Links links;
        if (const auto fault = add_links({key, plans, 0}, links)) {
            return Unexpected{*fault};
        }
        const Moment now = read_clock();
        std::vector<Inspection> standings;
        standings.reserve(links.count);
        const LinkLocks locks{links};
        find_links(links, now);
        for (const Link& link : links) {
            standings.push_back(
                {link.look(now), link.is_overridden() ? std::optional{link.until} : std::nullopt});
        }
        return standings;
    }

    Result<Moment, LimitFault> override_rule(std::string_view key, const Plan& plan,
                                             const LimitOverride& replacement) {
        const auto number = numbers_.number_of(plan);
        if (!is_key(key) || number == PlanNumbers::kNone) {
            return Unexpected{is_key(key) ? LimitFault::InvalidPlans : LimitFault::InvalidKey};
        }
        const std::uint64_t hash = hash_(key);
        const Moment now = read_clock();
        const bool is_kept = overrides_.put(named(key, number, hash), hash, replacement, now);
        return is_kept ? Result<Moment, LimitFault>{end_of(replacement.end, now)}
                       : Unexpected{LimitFault::Full};
    }

    const MomentClock& clock_;
    const CounterClock* const counter_;  // The same clock, where it is that one.
    const KeyHash hash_;
    PlanNumbers numbers_;
    LimitShards shards_;
    LimitChains chains_;
    LimitOverrides overrides_;
};

}  // namespace

std::unique_ptr<MemoryLimitStore> make_memory_limit_store(const MemoryLimitOptions& options,
                                                          const MomentClock& clock) {
    if (options.keys_max < 1 || options.keys_max > kKeysMax) {
        throw std::invalid_argument{"keys_max must be from 1 to 2^31"};
    }
    return std::make_unique<MemoryLimits>(options, clock);
}

}  // namespace sluice
