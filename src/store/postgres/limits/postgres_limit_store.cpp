#include "store/postgres/limits/postgres_limit_store.hpp"

#include <algorithm>
#include <cassert>

#include "store/postgres/client/connect_words_internal.hpp"
#include "store/postgres/client/connection_share.hpp"
#include "store/postgres/limits/limit_batch.hpp"
#include "store/postgres/limits/limit_sweeper.hpp"

namespace sluice {
namespace {

using namespace postgres;
using std::chrono::steady_clock;

constexpr std::string_view kComponent = "PostgresLimitStore";

// How long the watch waits for a connection at least.
constexpr std::chrono::milliseconds kProbePatience{500};

constexpr Statement kTake{"take_limits",
                          "select fault, allowed, shadowed, plan_no, limit_ct, remaining, retry_after,"
                          " reset_after, lease from sluice.take_limits($1, $2, $3, $4, $5, $6, $7, $8, $9,"
                          " $10, $11, $12)"};
constexpr Statement kRefund{"refund_limits", "select sluice.refund_limits($1, $2, $3, $4, $5, $6, $7)"};
constexpr Statement kRelease{"release_limit", "select sluice.release_limit($1, $2, $3, $4, $5)"};
constexpr Statement kReset{"reset_limits", "select sluice.reset_limits($1, $2)"};
constexpr Statement kInspect{"inspect_limits",
                             "select seen.allowed, seen.limit_ct, seen.remaining, seen.retry_after,"
                             " seen.reset_after, case when held.override_until > sluice.limit_clock()"
                             " then held.override_until end"
                             " from sluice.inspect_limits($1, $2, $3, $4, $5, $6) with ordinality"
                             " as seen (allowed, limit_ct, remaining, retry_after, reset_after, place)"
                             " left join sluice.limit_state as held"
                             " on held.limit_key = $1 and held.plan_nm = ($2::text[])[seen.place]"
                             " order by seen.place"};
constexpr Statement kProbe{"probe_limits", "select 1"};
constexpr Statement kOverride{"override_limit", "select sluice.override_limit($1, $2, $3, $4, $5, $6)"};
constexpr Statement kShelve{"shelve_plan",
                            "insert into sluice.admin_plan (name, words) values ($1, $2)"
                            " on conflict (name) do update set words = excluded.words"};
constexpr Statement kUnshelve{"unshelve_plan", "delete from sluice.admin_plan where name = $1"};
constexpr Statement kShelf{"shelved_plans", "select name, words from sluice.admin_plan"};
constexpr Statement kPutPlans{"put_plans", "select sluice.put_plans($1, $2, $3, $4, $5, $6, $7)"};

// The names of plans, and their rules, each in an array.
struct PlanArrays {
    ArrayText names;
    ArrayText algorithms;
    std::array<ArrayText, 3> terms;

    explicit PlanArrays(std::span<const Plan* const> plans) {
        for (const Plan* plan : plans) {
            const RuleTerms rule = terms_of(plan->rule());
            names.add(plan->name());
            algorithms.add(rule.algorithm);
            for (std::size_t i = 0; i < terms.size(); ++i) {
                terms[i].add(rule.terms[i]);
            }
        }
    }
};

std::string terms_text(const RuleTerms& rule) {
    ArrayText text;
    for (const std::int64_t term : rule.terms) {
        text.add(term);
    }
    return text.text();
}

// "PostgreSQL at db.example:5432"; several hosts stand there with commas.
std::string server_in(const ConnectSettings& settings) {
    auto words = connect_words(settings);
    if (!words) {
        return "PostgreSQL";
    }
    const std::string& port = (*words)["port"];
    return "PostgreSQL at " + (*words)["host"] + (port.empty() ? "" : ":" + port);
}

std::optional<Inspection> read_standing(const Rows& rows, std::size_t row) {
    const auto allowed = rows.boolean(row, 0);
    const auto limit = rows.number(row, 1);
    const auto remaining = rows.number(row, 2);
    const auto retry_after = rows.number(row, 3);
    const auto reset_after = rows.number(row, 4);
    if (!allowed || !limit || !remaining || !retry_after || !reset_after) {
        return std::nullopt;
    }
    const auto ends = rows.number(row, 5);
    return Inspection{{*allowed, *limit, *remaining, Wait{*retry_after}, Wait{*reset_after}},
                      ends ? std::optional{moment_of(*ends)} : std::nullopt};
}

class Store final : public PostgresLimitStore {
public:
    Store(std::shared_ptr<Server> server, const PostgresLimitOptions& options, Log& log)
        : options_{options},
          log_{log},
          turns_{options.key_wait},
          server_{std::move(server)},
          // Keys are all that is ever waited for.
          pool_{server_->pool(), {.lock_timeout = options.key_wait}},
          sweeper_{pool_, log, server_->runtime()},
          name_{server_in(server_->address())},
          watch_{{name_, options.patience, server_->runtime(), options.observer},
                 [this] { return probe(); }} {}

    void gave_up_on(std::string_view /*key*/) override { watch_.failed(name_ + " does not answer in time"); }

    void take(std::span<const Check> checks, std::span<CheckOutcome> outcomes) override {
        assert(checks.size() == outcomes.size());
        while (!checks.empty()) {
            const std::size_t count = std::min(checks.size(), options_.batch_max);
            take_part(checks.first(count), outcomes.first(count));
            checks = checks.subspan(count);
            outcomes = outcomes.subspan(count);
        }
    }

    CheckOutcome take_together(std::span<const Check> checks) override {
        assert(!checks.empty());
        if (const auto fault = fault_of_all(checks)) {
            return Unexpected{*fault};
        }
        LimitBatch batch;
        batch.add_together(checks);
        CheckOutcome outcome = Unexpected{LimitFault::Unavailable};
        CheckOutcome* const place = &outcome;
        decide(batch, {&place, 1});
        return outcome;
    }

    Result<void, LimitFault> refund(const Check& check) override {
        if (const auto fault = fault_of(check)) {
            return Unexpected{*fault};
        }
        std::vector<const Plan*> plans(check.plans.begin(), check.plans.end());
        std::ranges::sort(plans, {}, &Plan::name);
        const PlanArrays arrays{plans};
        const auto turn = turn_of(check.key);
        const auto rows = call(kRefund, Parameters{}
                                            .add(bytes_text(check.key))
                                            .add(arrays.names)
                                            .add(arrays.algorithms)
                                            .add(arrays.terms[0])
                                            .add(arrays.terms[1])
                                            .add(arrays.terms[2])
                                            .add(check.cost));
        if (!rows) {
            return Unexpected{rows.error()};
        }
        return !rows->empty() && rows->is_null(0, 0) ? Result<void, LimitFault>{}
                                                     : Unexpected{LimitFault::InvalidCost};
    }

    Result<bool, LimitFault> release(std::string_view key, const Plan& plan, LeaseId lease) override {
        const Plan* const one = &plan;
        if (const auto fault = fault_of({key, {&one, 1}, 0})) {
            return Unexpected{*fault};
        }
        const RuleTerms rule = terms_of(plan.rule());
        const auto turn = turn_of(key);
        const auto rows = call(kRelease, Parameters{}
                                             .add(bytes_text(key))
                                             .add(plan.name())
                                             .add(rule.algorithm)
                                             .add(terms_text(rule))
                                             .add(static_cast<std::int64_t>(lease)));
        if (!rows) {
            return Unexpected{rows.error()};
        }
        return !rows->empty() && rows->boolean(0, 0).value_or(false);
    }

    Result<void, LimitFault> reset(std::string_view key, std::span<const Plan* const> plans) override {
        if (const auto fault = fault_of({key, plans, 0})) {
            return Unexpected{*fault};
        }
        const auto turn = turn_of(key);
        return done(call(kReset, Parameters{}.add(bytes_text(key)).add(PlanArrays{plans}.names)));
    }

    Result<std::vector<Inspection>, LimitFault> inspect(std::string_view key,
                                                        std::span<const Plan* const> plans) override {
        if (const auto fault = fault_of({key, plans, 0})) {
            return Unexpected{*fault};
        }
        const PlanArrays arrays{plans};
        const auto rows = call(kInspect, Parameters{}
                                             .add(bytes_text(key))
                                             .add(arrays.names)
                                             .add(arrays.algorithms)
                                             .add(arrays.terms[0])
                                             .add(arrays.terms[1])
                                             .add(arrays.terms[2]));
        if (!rows) {
            return Unexpected{rows.error()};
        }
        std::vector<Inspection> standings;
        for (std::size_t i = 0; i < rows->size(); ++i) {
            const auto standing = read_standing(*rows, i);
            if (!standing) {
                return Unexpected{LimitFault::Unavailable};
            }
            standings.push_back(*standing);
        }
        return standings;
    }

    Result<Moment, LimitFault> put_override(std::string_view key, const Plan& plan,
                                            const LimitOverride& replacement) override {
        const Plan* const one = &plan;
        if (const auto fault = fault_of({key, {&one, 1}, 0})) {
            return Unexpected{*fault};
        }
        const RuleTerms rule = terms_of(replacement.rule);
        const auto turn = turn_of(key);
        const auto* const ttl = std::get_if<Wait>(&replacement.end);
        Parameters parameters;
        parameters.add(bytes_text(key)).add(plan.name()).add(rule.algorithm).add(terms_text(rule));
        if (ttl != nullptr) {
            parameters.add_null().add(std::clamp<std::int64_t>(ttl->count(), 0, kExactMax - 1));
        } else {
            parameters.add(microseconds_of(std::get<Moment>(replacement.end))).add_null();
        }
        const auto rows = call(kOverride, std::move(parameters));
        if (!rows) {
            return Unexpected{rows.error()};
        }
        const auto ends = rows->empty() ? std::nullopt : rows->number(0, 0);
        return ends ? Result<Moment, LimitFault>{moment_of(*ends)} : Unexpected{LimitFault::Unavailable};
    }

    bool publish_plans(std::span<const Plan* const> plans) override {
        const PlanArrays arrays{plans};
        ArrayText words;
        ArrayText shadows;
        for (const Plan* plan : plans) {
            words.add(plan->algorithm());
            shadows.add(plan->traits().shadow ? "t" : "f");
        }
        return call(kPutPlans, Parameters{}
                                   .add(arrays.names)
                                   .add(words)
                                   .add(arrays.algorithms)
                                   .add(arrays.terms[0])
                                   .add(arrays.terms[1])
                                   .add(arrays.terms[2])
                                   .add(shadows))
            .has_value();
    }

    Result<void, LimitFault> put_plan(std::string_view name, std::string_view words) override {
        return done(call(kShelve, Parameters{}.add(name).add(words)));
    }

    Result<void, LimitFault> remove_plan(std::string_view name) override {
        return done(call(kUnshelve, Parameters{}.add(name)));
    }

    Result<std::vector<Entry>, LimitFault> all_plans() override {
        const auto rows = call(kShelf, Parameters{});
        if (!rows) {
            return Unexpected{rows.error()};
        }
        std::vector<Entry> entries;
        for (std::size_t i = 0; i < rows->size(); ++i) {
            entries.push_back({std::string{rows->text(i, 0)}, std::string{rows->text(i, 1)}});
        }
        return entries;
    }

    // Waits for the first connection.
    Result<void, Failure> reach() {
        const auto lease = connection();
        return lease ? Result<void, Failure>{} : Unexpected{lease.error()};
    }

private:
    static std::optional<LimitFault> fault_of_all(std::span<const Check> checks) {
        std::vector<std::pair<std::string_view, std::string_view>> named;
        for (const Check& check : checks) {
            if (const auto fault = fault_of(check)) {
                return fault;
            }
            for (const Plan* plan : check.plans) {
                named.emplace_back(check.key, plan->name());
            }
        }
        std::ranges::sort(named);
        const bool twice = std::ranges::adjacent_find(named) != named.end();
        return twice || named.size() > kPlansPerCheckMax ? std::optional{LimitFault::InvalidPlans}
                                                         : std::nullopt;
    }

    void take_part(std::span<const Check> checks, std::span<CheckOutcome> outcomes) {
        LimitBatch batch;
        std::vector<CheckOutcome*> places;
        for (std::size_t i = 0; i < checks.size(); ++i) {
            if (const auto fault = fault_of(checks[i])) {
                outcomes[i] = Unexpected{*fault};
            } else {
                batch.add(checks[i]);
                places.push_back(&outcomes[i]);
            }
        }
        decide(batch, places);
    }

    // One call; a second that waits for nobody when one of the keys was held for too long. Keys that were
    // held just now are not waited for again.
    void decide(const LimitBatch& batch, std::span<CheckOutcome* const> places) {
        if (places.empty()) {
            return;
        }
        const auto turn = turns_.enter(batch.charged_keys(), latest());
        const bool patient = !turns_.are_held(turn.keys());
        auto rows = call(kTake, batch.parameters(patient));
        if (patient && !rows && rows.error() == LimitFault::Contended) {
            rows = call(kTake, batch.parameters(false));
        }
        for (std::size_t i = 0; i < places.size(); ++i) {
            *places[i] = rows && i < rows->size() ? read_verdict(*rows, i)
                         : rows                   ? CheckOutcome{Unexpected{LimitFault::Unavailable}}
                                                  : CheckOutcome{Unexpected{rows.error()}};
            if (!*places[i] && places[i]->error() == LimitFault::Contended) {
                turns_.found_held(batch.charged_keys(i));
            }
        }
    }

    // One key that is about to be changed.
    KeyTurns::Turn turn_of(std::string_view key) { return turns_.enter({KeyTurns::key_of(key)}, latest()); }

    [[nodiscard]] steady_clock::time_point latest() const {
        return steady_clock::now() + options_.connection_wait;
    }

    Result<Lease, Failure> connection() { return pool_.take(latest()); }

    // What the watch asks. Says why the server does not answer.
    std::optional<std::string> probe() {
        const auto lease = pool_.take(steady_clock::now() + std::max(options_.patience, kProbePatience));
        const auto rows = lease ? (*lease)->run(kProbe) : Result<Rows, Failure>{Unexpected{lease.error()}};
        return rows ? std::nullopt : std::optional{name_ + ": " + rows.error().described()};
    }

    // Once. What it changed is committed when this returns rows.
    Result<Rows, LimitFault> call(const Statement& statement, Parameters parameters) {
        if (watch_.down()) {
            return Unexpected{LimitFault::Unavailable};
        }
        const auto lease = connection();
        auto rows = lease ? (*lease)->run(statement, std::move(parameters))
                          : Result<Rows, Failure>{Unexpected{lease.error()}};
        if (rows || rows.error().contended()) {
            watch_.answered();
            return rows ? Result<Rows, LimitFault>{std::move(*rows)} : Unexpected{LimitFault::Contended};
        }
        log_.write(LogLevel::Warn, kComponent, rows.error().described());
        watch_.failed(name_ + ": " + rows.error().described());
        return Unexpected{LimitFault::Unavailable};
    }

    static Result<void, LimitFault> done(const Result<Rows, LimitFault>& rows) {
        return rows ? Result<void, LimitFault>{} : Unexpected{rows.error()};
    }

    const PostgresLimitOptions options_;
    Log& log_;
    KeyTurns turns_;
    const std::shared_ptr<Server> server_;  // Other stores use it too.
    ConnectionShare pool_;
    LimitSweeper sweeper_;
    const std::string name_;  // Of the server, as people call it.
    ServerWatch watch_;
};

}  // namespace

Result<std::unique_ptr<PostgresLimitStore>, std::string> open_postgres_limit_store(
    std::shared_ptr<Server> server, const PostgresLimitOptions& options, Log& log) {
    auto store = std::make_unique<Store>(std::move(server), options, log);
    if (const auto reached = store->reach(); !reached) {
        return Unexpected{cannot_connect(reached.error())};
    }
    return std::unique_ptr<PostgresLimitStore>{std::move(store)};
}

}  // namespace sluice
