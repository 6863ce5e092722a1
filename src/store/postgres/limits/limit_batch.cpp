#include "store/postgres/limits/limit_batch.hpp"

#include <algorithm>
#include <tuple>

namespace sluice::postgres {
namespace {

std::array<std::int64_t, 3> terms_of(const TokenBucket& rule) {
    return {rule.limit(), rule.unit(), rule.speed()};
}
std::array<std::int64_t, 3> terms_of(const FixedWindow& rule) {
    return {rule.limit(), static_cast<std::int64_t>(rule.cut().kind()), rule.cut().size().count()};
}
std::array<std::int64_t, 3> terms_of(const SlidingWindow& rule) {
    return {rule.limit(), rule.window().count(), 0};
}
std::array<std::int64_t, 3> terms_of(const SlidingWindowEstimate& rule) {
    return {rule.limit(), rule.window().count(), 0};
}
std::array<std::int64_t, 3> terms_of(const Cooldown& rule) { return {rule.limit(), rule.pause().count(), 0}; }
std::array<std::int64_t, 3> terms_of(const Concurrency& rule) {
    return {rule.limit(), rule.term().count(), 0};
}

template <class One, class Other>
bool comes_before(const One& one, const Other& other) {
    return std::tie(one.key, one.plan) < std::tie(other.key, other.plan);
}

bool has_plan_twice(std::span<const Plan* const> plans) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (plans[i]->name() == plans[j]->name()) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

RuleTerms terms_of(const LimitRule& rule) {
    return {static_cast<std::int64_t>(rule.index()),
            std::visit([](const auto& each) { return terms_of(each); }, rule)};
}

std::optional<LimitFault> fault_of(const Check& check) {
    if (check.key.empty() || check.key.size() > kLimitKeyBytesMax) {
        return LimitFault::InvalidKey;
    }
    if (check.plans.empty() || check.plans.size() > kPlansPerCheckMax || has_plan_twice(check.plans)) {
        return LimitFault::InvalidPlans;
    }
    return check.cost < 0 ? std::optional{LimitFault::InvalidCost} : std::nullopt;
}

void LimitBatch::add(const Check& check) { add_together({&check, 1}); }

void LimitBatch::add_together(std::span<const Check> checks) {
    for (const Check& check : checks) {
        for (const Plan* plan : check.plans) {
            links_.push_back({check.key, plan, check.cost, count_});
        }
    }
    ++count_;
}

KeyTurns::Keys LimitBatch::charged_keys(std::optional<std::size_t> check) const {
    KeyTurns::Keys keys;
    for (const Link& link : links_) {
        if (link.cost > 0 && link.check == check.value_or(link.check)) {
            keys.push_back(KeyTurns::key_of(link.key));
        }
    }
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
}

std::vector<LimitBatch::Row> LimitBatch::rows() const {
    std::vector<Row> all;
    all.reserve(links_.size());
    for (const Link& link : links_) {
        all.push_back({link.key, link.plan->name(), link.cost > 0});
    }
    std::ranges::sort(all, comes_before<Row, Row>);
    std::vector<Row> rows;
    for (const Row& row : all) {
        if (rows.empty() || comes_before(rows.back(), row)) {
            rows.push_back(row);
        } else {
            rows.back().charged = rows.back().charged || row.charged;
        }
    }
    return rows;
}

Parameters LimitBatch::parameters(bool patient) const {
    const std::vector<Row> named = rows();
    ArrayText keys;
    ArrayText plans;
    ArrayText charged;
    for (const Row& row : named) {
        keys.add(bytes_text(row.key));
        plans.add(row.plan);
        charged.add(row.charged ? "t" : "f");
    }
    ArrayText checks;
    ArrayText places;
    ArrayText algorithms;
    std::array<ArrayText, 3> terms;
    ArrayText costs;
    ArrayText shadows;
    for (const Link& link : links_) {
        const Row row{link.key, link.plan->name(), false};
        const auto place = std::ranges::lower_bound(named, row, comes_before<Row, Row>) - named.begin();
        const RuleTerms rule = terms_of(link.plan->rule());
        checks.add(static_cast<std::int64_t>(link.check));
        places.add(place + 1);
        algorithms.add(rule.algorithm);
        for (std::size_t i = 0; i < terms.size(); ++i) {
            terms[i].add(rule.terms[i]);
        }
        costs.add(link.cost);
        shadows.add(link.plan->traits().shadow ? "t" : "f");
    }
    Parameters parameters;
    parameters.add(keys).add(plans).add(charged).add(checks).add(places).add(algorithms);
    parameters.add(terms[0]).add(terms[1]).add(terms[2]).add(costs).add(shadows).add_boolean(patient);
    return parameters;
}

CheckOutcome read_verdict(const Rows& rows, std::size_t row) {
    if (!rows.is_null(row, 0)) {
        return Unexpected{rows.text(row, 0) == "cost"        ? LimitFault::InvalidCost
                          : rows.text(row, 0) == "contended" ? LimitFault::Contended
                                                             : LimitFault::Unavailable};
    }
    const auto allowed = rows.boolean(row, 1);
    const auto shadowed = rows.boolean(row, 2);
    std::array<std::int64_t, 6> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto number = rows.number(row, i + 3);
        if (!number) {
            return Unexpected{LimitFault::Unavailable};
        }
        numbers[i] = *number;
    }
    if (!allowed || !shadowed) {
        return Unexpected{LimitFault::Unavailable};
    }
    const auto [plan, limit, remaining, retry_after, reset_after, lease] = numbers;
    return Verdict{
        *allowed,          *shadowed,         static_cast<std::uint32_t>(plan),          limit, remaining,
        Wait{retry_after}, Wait{reset_after}, LeaseId{static_cast<std::uint64_t>(lease)}};
}

}  // namespace sluice::postgres
