#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/limits/limit_store.hpp"
#include "store/postgres/client/key_turns.hpp"
#include "store/postgres/client/parameters.hpp"
#include "store/postgres/client/rows.hpp"

namespace sluice::postgres {

// A rule as the functions in sql/0007_limit_rules.sql take it.
struct RuleTerms {
    std::int64_t algorithm = 0;
    std::array<std::int64_t, 3> terms{};
};
RuleTerms terms_of(const LimitRule& rule);

// What is wrong with a check whatever the store holds; a cost that is too high depends on overrides.
std::optional<LimitFault> fault_of(const Check& check);

// The checks of one call of sluice.take_limits. What the checks point at must outlive this.
// Thread safety: none.
class LimitBatch {
public:
    // Its verdict will be the next. REQUIRES: it has no fault.
    void add(const Check& check);
    // Checks that are decided as one, with one verdict. REQUIRES: none has a fault.
    void add_together(std::span<const Check> checks);

    [[nodiscard]] std::size_t checks() const { return count_; }

    // The keys that are to be charged, each once: by all checks, or by those of one verdict.
    [[nodiscard]] KeyTurns::Keys charged_keys(std::optional<std::size_t> check = std::nullopt) const;

    // Patient: waits for keys that others hold; see sluice.lock_limits.
    [[nodiscard]] Parameters parameters(bool patient) const;

private:
    // One plan of one check.
    struct Link {
        std::string_view key;
        const Plan* plan;
        Tokens cost;
        std::size_t check;
    };
    // What is kept of one key under one plan.
    struct Row {
        std::string_view key;
        std::string_view plan;
        bool charged;  // By some check; otherwise it is only looked at.
    };
    // In byte order, each once.
    [[nodiscard]] std::vector<Row> rows() const;

    std::vector<Link> links_;
    std::size_t count_ = 0;
};

// The verdict in a row that sluice.take_limits gave; Unavailable when it cannot be understood.
CheckOutcome read_verdict(const Rows& rows, std::size_t row);

}  // namespace sluice::postgres
