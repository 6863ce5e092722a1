#include "store/memory/memory_limit_store.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <mutex>
#include <new>
#include <stdexcept>

#include "store/memory/key_hash.hpp"
#include "store/memory/limit_shards.hpp"
#include "store/memory/plan_numbers.hpp"

namespace sluice {
namespace {

constexpr std::size_t kKeysMax = std::size_t{1} << 31U;

bool is_key(std::string_view key) { return !key.empty() && key.size() <= kLimitKeyBytesMax; }

class MemoryLimits final : public MemoryLimitStore {
public:
    MemoryLimits(const MemoryLimitOptions& options, const MomentClock& clock)
        : options_{options}, clock_{clock}, hash_{options.seed}, shards_{options.keys_max} {}

    void take(std::span<const Check> checks, std::span<CheckOutcome> outcomes) override {
        assert(checks.size() == outcomes.size());
        if (checks.size() == 1) {
            take_one(checks[0], hash_(checks[0].key), outcomes[0]);
        } else {
            take_many(checks, outcomes);
        }
    }

    Result<void, LimitFault> refund(const Check& check) override {
        return guarded([&] { return give_back(check, hash_(check.key)); });
    }

    Result<bool, LimitFault> release(std::string_view key, const Plan& plan, LeaseId lease) override {
        return guarded([&] { return end_lease(key, plan, lease); });
    }

    Result<void, LimitFault> reset(std::string_view key, std::span<const Plan* const> plans) override {
        return guarded([&]() -> Result<void, LimitFault> {
            const std::uint64_t hash = hash_(key);
            Links links;
            if (const auto fault = name_links({key, plans, 0}, hash, links)) {
                return Unexpected{*fault};
            }
            LimitShard& shard = shards_.of(hash);
            const std::lock_guard lock{shard.lock};
            for (const Link& link : links) {
                shards_.forget(shard, link.name);
                shards_.forget(shard, named(key, overriding(link.name.plan), hash));
            }
            return {};
        });
    }

    Result<std::vector<Standing>, LimitFault> inspect(std::string_view key,
                                                      std::span<const Plan* const> plans) override {
        return guarded([&] { return standings_of(key, plans); });
    }

    Result<void, LimitFault> put_override(std::string_view key, const Plan& plan,
                                          const LimitOverride& replacement) override {
        return guarded([&]() -> Result<void, LimitFault> {
            const auto number = numbers_.number_of(plan);
            if (!is_key(key) || number == PlanNumbers::kNone) {
                return Unexpected{is_key(key) ? LimitFault::InvalidPlans : LimitFault::InvalidKey};
            }
            const Moment now = clock_.now();
            if (try_override({number, key}, replacement, now)) {
                return {};
            }
            erase_expired_overrides(now);
            return try_override({number, key}, replacement, now) ? Result<void, LimitFault>{}
                                                                 : Unexpected{LimitFault::Full};
        });
    }

    [[nodiscard]] MemoryLimitFigures figures() const override {
        return {shards_.held(), refused_.load(std::memory_order_relaxed), shards_.expired()};
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

    Result<void, LimitFault> give_back(const Check& check, std::uint64_t hash) {
        Links links;
        if (const auto fault = name_links(check, hash, links)) {
            return Unexpected{*fault};
        }
        const Ask ask{clock_.now(), check.cost};
        LimitShard& shard = shards_.of(hash);
        const std::lock_guard lock{shard.lock};
        find_links(shard, links, ask.now);
        if (!is_affordable(links, check.cost)) {
            return Unexpected{LimitFault::InvalidCost};
        }
        for (Link& link : links) {
            if (link.entry != nullptr) {
                change(*link.entry, *link.rule,
                       [&](const auto& rule, auto& state) { rule.refund(state, ask); });
                shard.earliest_idle = std::min(shard.earliest_idle, link.entry->idle_at);
            }
        }
        return {};
    }

    Result<bool, LimitFault> end_lease(std::string_view key, const Plan& plan, LeaseId lease) {
        const std::array<const Plan*, 1> plans{&plan};
        const std::uint64_t hash = hash_(key);
        Links links;
        if (const auto fault = name_links({key, plans, 0}, hash, links)) {
            return Unexpected{*fault};
        }
        const Moment now = clock_.now();
        LimitShard& shard = shards_.of(hash);
        const std::lock_guard lock{shard.lock};
        find_links(shard, links, now);
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

    Result<std::vector<Standing>, LimitFault> standings_of(std::string_view key,
                                                           std::span<const Plan* const> plans) {
        const std::uint64_t hash = hash_(key);
        Links links;
        if (const auto fault = name_links({key, plans, 0}, hash, links)) {
            return Unexpected{*fault};
        }
        const Ask peek{clock_.now(), 0};
        std::vector<Standing> standings;
        standings.reserve(links.count);
        LimitShard& shard = shards_.of(hash);
        const std::lock_guard lock{shard.lock};
        find_links(shard, links, peek.now);
        for (const Link& link : links) {
            standings.push_back(look_at(link, peek));
        }
        return standings;
    }

    // False: there are too many. Made first and counted after, so that want of memory leaves nothing behind.
    bool try_override(const OverrideBook::Name& name, const LimitOverride& replacement, Moment now) {
        const std::uint64_t hash = hash_(name.key);
        LimitShard& shard = shards_.of(hash);
        const std::lock_guard lock{shard.lock};
        if (replacement.until <= now) {
            overrides_.fetch_sub(shard.overrides.erase(name), std::memory_order_relaxed);
            return true;
        }
        const bool known = shard.overrides.has(name);
        shard.overrides.put(name, replacement);
        if (!known && overrides_.fetch_add(1, std::memory_order_relaxed) >= options_.overrides_max) {
            overrides_.fetch_sub(shard.overrides.erase(name), std::memory_order_relaxed);
            return false;
        }
        shards_.forget(shard, named(name.key, overriding(name.plan), hash));  // It begins fresh.
        return true;
    }

    void erase_expired_overrides(Moment now) {
        for (LimitShard& each : shards_.all()) {
            const std::lock_guard lock{each.lock};
            overrides_.fetch_sub(each.overrides.erase_expired(now), std::memory_order_relaxed);
        }
    }

    void prefetch(const Check& check, std::uint64_t hash) {
        if (check.plans.empty()) {
            return;
        }
        const EntryName name = named(check.key, numbers_.find(*check.plans[0]), hash);
        __builtin_prefetch(shards_.of(hash).table.address_of(name.hash), 1);
    }

    // Says what is wrong with a check, or names the entries of its plans.
    std::optional<LimitFault> name_links(const Check& check, std::uint64_t hash, Links& links) {
        if (!is_key(check.key)) {
            return LimitFault::InvalidKey;
        }
        if (check.plans.empty() || check.plans.size() > kPlansPerCheckMax) {
            return LimitFault::InvalidPlans;
        }
        if (check.cost < 0) {
            return LimitFault::InvalidCost;
        }
        for (const Plan* plan : check.plans) {
            const auto number = numbers_.number_of(*plan);
            if (number == PlanNumbers::kNone || has_plan(links, number)) {
                return LimitFault::InvalidPlans;
            }
            links.items[links.count++] = {plan, &plan->rule(), named(check.key, number, hash), nullptr};
        }
        return std::nullopt;
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
        try {
            const bool is_common = check.plans.size() == 1 && check.cost >= 0 && is_key(check.key);
            if (!is_common || !take_known(check, hash, outcome)) {
                outcome = take_any(check, hash);
            }
        } catch (const std::bad_alloc&) {
            outcome = Unexpected{LimitFault::Unavailable};
        }
    }

    // The short way, for most checks: one plan, a known key, no overrides, no lease. False: go the long way.
    bool take_known(const Check& check, std::uint64_t hash, CheckOutcome& outcome) {
        const Plan& plan = *check.plans[0];
        const auto number = numbers_.number_of(plan);
        if (number == PlanNumbers::kNone || std::holds_alternative<Concurrency>(plan.rule())) {
            return false;
        }
        const EntryName name = named(check.key, number, hash);
        LimitShard& shard = shards_.of(hash);
        __builtin_prefetch(shard.table.address_of(name.hash), 1);
        const Ask ask{clock_.now(), check.cost};  // Read while the line is on its way.
        const std::lock_guard lock{shard.lock};
        LimitEntry* const entry = shard.table.find(name);
        if (entry == nullptr || entry->kind != plan.rule().index() + 1 || !shard.overrides.empty()) {
            return false;
        }
        const Standing standing = decide_known(*entry, plan.rule(), ask);
        // Sooner than before where the plan has changed.
        shard.earliest_idle = std::min(shard.earliest_idle, entry->idle_at);
        if (standing.limit == 0) {
            outcome = Unexpected{LimitFault::InvalidCost};
        } else {
            answer(outcome, plan, standing);
        }
        return true;
    }

    [[gnu::noinline]] CheckOutcome take_any(const Check& check, std::uint64_t hash) {
        Links links;
        if (const auto fault = name_links(check, hash, links)) {
            return Unexpected{*fault};
        }
        LimitShard& shard = shards_.of(hash);
        const Ask ask{clock_.now(), check.cost};
        {
            const std::lock_guard lock{shard.lock};
            if (const auto outcome = try_take(shard, links, ask)) {
                return *outcome;
            }
        }
        return take_after_sweep(shard, links, ask);
    }

    // Nothing: there is no room for a new key. REQUIRES: the shard's lock.
    std::optional<CheckOutcome> try_take(LimitShard& shard, Links& links, const Ask& ask) {
        find_links(shard, links, ask.now);
        if (!is_affordable(links, ask.cost)) {
            return Unexpected{LimitFault::InvalidCost};
        }
        return take_chain(shard, links, ask);
    }

    std::optional<CheckOutcome> take_chain(LimitShard& shard, Links& links, Ask ask) {
        std::array<PlanStanding, kPlansPerCheckMax> standings;
        for (std::size_t i = 0; i < links.count; ++i) {
            standings[i] = {links.items[i].plan, look_at(links.items[i], ask)};
        }
        Verdict verdict = judge({standings.data(), links.count});
        if (!verdict.allowed || ask.is_peek()) {
            return verdict;
        }
        // All that may want memory comes before the first charge.
        if (!shards_.add_absent(shard, links)) {
            return std::nullopt;
        }
        if (holds_leases(links)) {  // Other checks take no number.
            ask.lease = LeaseId{leases_.fetch_add(1, std::memory_order_relaxed) + 1};
        }
        for (std::size_t i = 0; i < links.count; ++i) {
            const Link& link = links.items[i];
            if (standings[i].standing.allowed) {
                charge_to(*link.entry, *link.rule, ask);
                verdict.lease = std::holds_alternative<Concurrency>(*link.rule) ? ask.lease : verdict.lease;
            }
            shard.earliest_idle = std::min(shard.earliest_idle, link.entry->idle_at);
        }
        return verdict;
    }

    // Makes room by dropping idle keys, and tries again.
    CheckOutcome take_after_sweep(LimitShard& shard, Links& links, const Ask& ask) {
        const std::int64_t now = microseconds_of(ask.now);
        const std::int64_t room_at = shards_.sweep(now);
        {
            const std::lock_guard lock{shard.lock};
            restore_names(links);
            if (const auto outcome = try_take(shard, links, ask)) {
                return *outcome;
            }
        }
        refused_.fetch_add(1, std::memory_order_relaxed);
        if (options_.when_full == WhenFull::Fail || links.count > options_.keys_max) {
            return Unexpected{LimitFault::Full};
        }
        const Wait wait{std::max<std::int64_t>(1, room_at - now)};
        return Verdict{false, false, 0, links.items[0].plan->limit(), 0, wait, wait, LeaseId{}};
    }

    // As name_links left them: an override may have been applied.
    void restore_names(Links& links) {
        for (Link& link : links) {
            const auto plan = static_cast<std::uint16_t>(link.name.plan & 0x7FFFU);
            link.name = named(link.name.key, plan, hash_(link.name.key));
            link.rule = &link.plan->rule();
        }
    }

    const MemoryLimitOptions options_;
    const MomentClock& clock_;
    const KeyHash hash_;
    PlanNumbers numbers_;
    LimitShards shards_;
    std::atomic<std::size_t> overrides_{0};
    std::atomic<std::uint64_t> refused_{0};
    std::atomic<std::uint64_t> leases_{0};
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
