#include "store/redis/limits/redis_limit_store.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <new>

#include "app/limits/lease_numbers.hpp"
#include "app/limits/plan_shelf.hpp"
#include "store/redis/client/cluster_slot.hpp"
#include "store/redis/client/script_runner.hpp"
#include "store/redis/limits/limit_links.hpp"
#include "store/redis/limits/redis_limits.hpp"
#include "store/redis/limits/rule_words.hpp"
#include "store/redis/limits/state_keys.hpp"
#include "store/redis/limits/trial.hpp"

namespace sluice {
namespace redis {
namespace {

using Failed = Unexpected<std::string>;

// All that the routes and the store need for as long as the store lives.
struct Surroundings {
    std::unique_ptr<Runtime> own_runtime;  // Null: somebody else's is used.
    std::unique_ptr<TlsIdentity> tls;
    std::unique_ptr<Script> script;
    std::unique_ptr<Routes> routes;
};

class RedisLimits final : public LimitStore, public PlanShelf {
public:
    RedisLimits(Surroundings around, const ScriptTime& time, std::chrono::milliseconds timeout)
        : around_{std::move(around)},
          clock_{time.clock},
          runner_{*around_.routes, *around_.script, timeout} {}

    [[nodiscard]] std::size_t lanes() const override { return around_.routes->lanes(); }

    [[nodiscard]] std::size_t lane(std::string_view key) override {
        return around_.routes->lane(slot_of(state_key("", key)));
    }

    void gave_up_on(std::string_view key) override {
        if (const auto pool = around_.routes->to(slot_of(state_key("", key)))) {
            pool->watch().failed(pool->server() + " does not answer in time");
        }
    }

    void take(std::span<const Check> checks, std::span<CheckOutcome> outcomes) override {
        assert(checks.size() == outcomes.size());
        try {
            take_all(checks, outcomes);
        } catch (const std::bad_alloc&) {
            std::fill(outcomes.begin(), outcomes.end(), Unexpected{LimitFault::Unavailable});
        }
    }

    CheckOutcome take_together(std::span<const Check> checks) override {
        return guarded([&]() -> CheckOutcome {
            Links links;
            for (const Check& check : checks) {
                if (const auto fault = add_links(check, links)) {
                    return Unexpected{*fault};
                }
            }
            if (are_apart(checks)) {
                return Unexpected{LimitFault::Apart};
            }
            return verdict_in(answer_to("take", links, lease()));
        });
    }

    Result<void, LimitFault> refund(const Check& check) override { return done("refund", check); }

    Result<bool, LimitFault> release(std::string_view key, const Plan& plan, LeaseId lease) override {
        return guarded([&]() -> Result<bool, LimitFault> {
            const std::array<const Plan*, 1> plans{&plan};
            Links links;
            if (const auto fault = add_links({key, plans, 0}, links)) {
                return Unexpected{*fault};
            }
            // Larger ones were never given, and are more than the script can tell apart.
            const auto number = std::min<std::uint64_t>(static_cast<std::uint64_t>(lease), kExactMax);
            const auto reply = answer_to("release", links, std::to_string(number));
            if (const auto fault = fault_in(reply, 1)) {
                return Unexpected{*fault};
            }
            return readable(*reply) ? Result<bool, LimitFault>{reply->at(0).integer() == 1}
                                    : Unexpected{LimitFault::Unavailable};
        });
    }

    Result<void, LimitFault> reset(std::string_view key, std::span<const Plan* const> plans) override {
        return done("reset", {key, plans, 0});
    }

    Result<std::vector<Inspection>, LimitFault> inspect(std::string_view key,
                                                        std::span<const Plan* const> plans) override {
        return guarded([&]() -> Result<std::vector<Inspection>, LimitFault> {
            Links links;
            if (const auto fault = add_links({key, plans, 0}, links)) {
                return Unexpected{*fault};
            }
            const auto reply = answer_to("inspect", links);
            if (const auto fault = fault_in(reply, 1 + 6 * links.size())) {
                return Unexpected{*fault};
            }
            std::vector<Inspection> standings;
            for (std::size_t i = 1; i < reply->size(); i += 6) {
                const auto number = [&](std::size_t place) { return reply->at(i + place).integer(); };
                const auto until = number(5) > 0 ? std::optional{moment_of(number(5))} : std::nullopt;
                standings.push_back(
                    {{number(0) == 1, number(1), number(2), Wait{number(3)}, Wait{number(4)}}, until});
            }
            return standings;
        });
    }

    Result<Moment, LimitFault> put_override(std::string_view key, const Plan& plan,
                                            const LimitOverride& replacement) override {
        return guarded([&]() -> Result<Moment, LimitFault> {
            const std::array<const Plan*, 1> plans{&plan};
            Links links;
            if (const auto fault = add_links({key, plans, 0}, links)) {
                return Unexpected{*fault};
            }
            std::vector<std::string> words = words_for("override", links);
            words.resize(words.size() - 5);
            append_rule_words(words, replacement.rule, 0, false);
            const auto* const ttl = std::get_if<Wait>(&replacement.end);
            words.emplace_back(ttl != nullptr ? "in" : "at");
            const std::int64_t end =
                ttl != nullptr ? ttl->count() : microseconds_of(std::get<Moment>(replacement.end));
            words.push_back(std::to_string(std::clamp<std::int64_t>(end, 0, kExactMax - 1)));
            const auto reply = run_one(std::move(words), links);
            if (const auto fault = fault_in(reply, 2)) {
                return Unexpected{*fault};
            }
            return moment_of(reply->at(1).integer());
        });
    }

    Result<void, LimitFault> put_plan(std::string_view name, std::string_view words) override {
        const auto put = ask_shelf({"shelve", std::string{name}, std::string{words}});
        return put ? Result<void, LimitFault>{} : Unexpected{put.error()};
    }

    Result<void, LimitFault> remove_plan(std::string_view name) override {
        const auto removed = ask_shelf({"unshelve", std::string{name}});
        return removed ? Result<void, LimitFault>{} : Unexpected{removed.error()};
    }

    Result<std::vector<Entry>, LimitFault> all_plans() override {
        const auto reply = ask_shelf({"shelf"});
        if (!reply) {
            return Unexpected{reply.error()};
        }
        std::vector<Entry> entries;
        for (std::size_t i = 1; i + 1 < reply->size(); i += 2) {
            entries.push_back({std::string{reply->at(i).text()}, std::string{reply->at(i + 1).text()}});
        }
        return entries;
    }

private:
    // The hash that holds the plans: one that no key of a plan has, because plans have names.
    Result<Reply, LimitFault> ask_shelf(const std::vector<std::string>& arguments) {
        static constexpr const char* kShelf = "rate_limiter:{plans}";
        return guarded([&]() -> Result<Reply, LimitFault> {
            std::vector<std::string> words{"EVALSHA", around_.script->sha(), "1", kShelf};
            words.insert(words.end(), arguments.begin(), arguments.end());
            if (clock_ != nullptr) {
                words.push_back(std::to_string(microseconds_of(clock_->now())));
            }
            ScriptCall call{slot_of(kShelf), {}};
            append_command(call.command, words);
            runner_.run({&call, 1});
            const bool answered = call.reply && call.reply->size() > 0;
            return answered ? Result<Reply, LimitFault>{*std::move(call.reply)}
                            : Unexpected{LimitFault::Unavailable};
        });
    }

    // No exception crosses a port.
    template <class Call>
    static auto guarded(Call call) -> decltype(call()) {
        try {
            return call();
        } catch (const std::bad_alloc&) {
            return Unexpected{LimitFault::Unavailable};
        }
    }

    // Who would hold the places that a check takes. Always told: an override may be of any rule.
    std::string lease() { return std::to_string(static_cast<std::uint64_t>(leases_.next())); }

    // A check that went out and came back as -2 has one element, as others have.
    static bool readable(const Reply& reply) { return reply.at(0).integer() >= 0; }

    [[nodiscard]] bool are_apart(std::span<const Check> checks) const {
        if (!around_.routes->splits()) {
            return false;
        }
        const auto slot = [](const Check& check) { return slot_of(state_key("", check.key)); };
        return std::any_of(checks.begin(), checks.end(),
                           [&](const Check& check) { return slot(check) != slot(checks[0]); });
    }

    void take_all(std::span<const Check> checks, std::span<CheckOutcome> outcomes) {
        std::vector<ScriptCall> calls;
        std::vector<std::size_t> numbers;  // Which check each call is for.
        calls.reserve(checks.size());
        numbers.reserve(checks.size());
        Links links;
        for (std::size_t i = 0; i < checks.size(); ++i) {
            links.clear();
            if (const auto fault = add_links(checks[i], links)) {
                outcomes[i] = Unexpected{*fault};
                continue;
            }
            auto words = words_for("take", links);
            words.push_back(lease());
            calls.push_back(call_of(std::move(words), links));
            numbers.push_back(i);
        }
        runner_.run(calls);
        for (std::size_t i = 0; i < calls.size(); ++i) {
            outcomes[numbers[i]] = verdict_in(calls[i].reply);
        }
    }

    // An operation that has no answer but that it was done.
    Result<void, LimitFault> done(const char* operation, const Check& check) {
        return guarded([&]() -> Result<void, LimitFault> {
            Links links;
            if (const auto fault = add_links(check, links)) {
                return Unexpected{*fault};
            }
            const auto reply = answer_to(operation, links);
            const auto fault = fault_in(reply, 1);
            if (fault || !readable(*reply)) {
                return Unexpected{fault.value_or(LimitFault::Unavailable)};
            }
            return {};
        });
    }

    [[nodiscard]] std::vector<std::string> words_for(const char* operation, const Links& links) const {
        std::vector<std::string> words{"EVALSHA", around_.script->sha(), std::to_string(links.size())};
        words.reserve(6 + 6 * links.size());
        for (const Link& link : links) {
            words.push_back(state_key(link.plan->name(), link.key));
        }
        words.emplace_back(operation);
        for (const Link& link : links) {
            append_rule_words(words, link.plan->rule(), link.cost, link.plan->traits().shadow);
        }
        return words;
    }

    [[nodiscard]] ScriptCall call_of(std::vector<std::string> words, const Links& links) const {
        if (clock_ != nullptr) {
            words.push_back(std::to_string(microseconds_of(clock_->now())));
        }
        ScriptCall call{slot_of(state_key("", links[0].key)), {}};
        append_command(call.command, words);
        return call;
    }

    std::optional<Reply> answer_to(const char* operation, const Links& links, std::string extra = {}) {
        std::vector<std::string> words = words_for(operation, links);
        if (!extra.empty()) {
            words.push_back(std::move(extra));
        }
        return run_one(std::move(words), links);
    }

    std::optional<Reply> run_one(std::vector<std::string> words, const Links& links) {
        ScriptCall call = call_of(std::move(words), links);
        runner_.run({&call, 1});
        return std::move(call.reply);
    }

    Surroundings around_;
    const MomentClock* clock_;  // Null: the server's own clock.
    LeaseNumbers leases_;
    ScriptRunner runner_;
};

OpenedRoutes open_routes(const RedisAddress& address, const Greeting& greeting, const PoolWishes& wishes) {
    switch (address.deployment) {
        case Deployment::Sentinel: return open_sentinel_route(address, greeting, wishes);
        case Deployment::Cluster: return open_cluster_routes(address, greeting, wishes);
        default: return open_single_route(address.nodes[0], greeting, wishes);
    }
}

Result<Surroundings, std::string> open_surroundings(const RedisOptions& options, const RedisAddress& address,
                                                    const ScriptTime& time) {
    Surroundings around;
    if (address.tls) {
        auto tls = make_tls_identity(options.tls_ca_file, options.tls_certificate_file, options.tls_key_file);
        if (!tls) {
            return Failed{tls.error()};
        }
        around.tls = std::move(*tls);
    }
    around.script = std::make_unique<Script>(limit_script(time));
    // A watch that asks a silent server waits at least as long as callers do.
    const auto patience = std::max(options.timeout, options.patience);
    const auto timeout = std::max(options.connect_timeout, patience);
    const Greeting greeting{address.user, address.password, around.tls.get(), options.allow_eviction,
                            timeout};
    if (options.runtime == nullptr) {
        around.own_runtime = make_machine_runtime();
    }
    Runtime& runtime = options.runtime == nullptr ? *around.own_runtime : *options.runtime;
    auto routes = open_routes(address, greeting,
                              {options.connections_max, patience, runtime, options.observer,
                               make_trial(*around.script, time.clock, timeout)});
    if (!routes) {
        return Failed{routes.error()};
    }
    around.routes = std::move(*routes);
    return around;
}

}  // namespace

OpenedLimits open_limits(const RedisOptions& options, const ScriptTime& time) {
    const auto address = parse_redis_address(options.address);
    if (!address) {
        return Failed{address.error()};
    }
    if (options.connections_max < 1 || options.timeout.count() < 1 || options.connect_timeout.count() < 1) {
        return Failed{"redis needs at least one connection and time-outs of at least a millisecond"};
    }
    try {
        auto around = open_surroundings(options, *address, time);
        if (!around) {
            return Failed{around.error()};
        }
        return std::unique_ptr<LimitStore>{
            std::make_unique<RedisLimits>(std::move(*around), time, options.timeout)};
    } catch (const std::exception& problem) {  // No threads, descriptors or memory left.
        return Failed{std::string{"the store of limits in Redis cannot be opened: "} + problem.what()};
    }
}

}  // namespace redis

Result<std::unique_ptr<LimitStore>, std::string> open_redis_limit_store(const RedisOptions& options) {
    return redis::open_limits(options, redis::server_time());
}

}  // namespace sluice
