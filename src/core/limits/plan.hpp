#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/limits/concurrency.hpp"
#include "core/limits/cooldown.hpp"
#include "core/limits/fixed_window.hpp"
#include "core/limits/sliding_window.hpp"
#include "core/limits/sliding_window_estimate.hpp"
#include "core/limits/token_bucket.hpp"

namespace sluice {

using LimitRule =
    std::variant<TokenBucket, FixedWindow, SlidingWindow, SlidingWindowEstimate, Cooldown, Concurrency>;

// What is remembered of one key under one plan; the alternative has the index of its rule.
using LimitState = std::variant<TokenBucket::State, FixedWindow::State, SlidingWindow::State,
                                SlidingWindowEstimate::State, Cooldown::State, Concurrency::State>;

// What a plan wants when the store does not answer.
enum class OnStoreFailure : std::uint8_t { Open, Closed, Local };

struct PlanTraits {
    OnStoreFailure on_store_failure = OnStoreFailure::Open;
    bool shadow = false;  // Decides and charges, but never denies.
    Tokens lease = 0;     // How many tokens a node may take from a shared store at a time. 0: just the cost.

    bool operator==(const PlanTraits&) const = default;
};

// A named rule. A value: copies are equal and independent.
// Thread safety: immutable after make().
class Plan {
public:
    static constexpr std::size_t kNameBytesMax = 128;

    // Fails unless the name is 1 to kNameBytesMax characters of [A-Za-z0-9_.:-].
    static Result<Plan, PlanError> make(std::string_view name, const LimitRule& rule, PlanTraits traits = {});

    [[nodiscard]] const std::string& name() const { return name_; }
    // Differs for all plans that were made; copies share it. From 1 to 2^48. For stores that look plans up.
    [[nodiscard]] std::uint64_t id() const { return id_; }
    [[nodiscard]] const LimitRule& rule() const { return rule_; }
    [[nodiscard]] const PlanTraits& traits() const { return traits_; }
    [[nodiscard]] Tokens limit() const {
        return std::visit([](const auto& rule) { return rule.limit(); }, rule_);
    }
    // As the plans file spells it, for example "token_bucket".
    [[nodiscard]] std::string_view algorithm() const;

    // Where a key begins that is not known.
    [[nodiscard]] LimitState fresh() const;

    bool operator==(const Plan& other) const {
        return name_ == other.name_ && rule_ == other.rule_ && traits_ == other.traits_;
    }

private:
    Plan(std::string name, const LimitRule& rule, PlanTraits traits);

    std::string name_;
    std::uint64_t id_;
    LimitRule rule_;
    PlanTraits traits_;
};

bool is_plan_name(std::string_view name);

// A plan as an administrator writes it: the fields of the plans file, as text where they are text there.
struct PlanDraft {
    std::string name;
    std::string algorithm;
    std::optional<Tokens> capacity{};  // The limit, whatever the algorithm.
    std::string refill{};              // token_bucket: `N/s|m|h|d` or `N/<ISO duration>`.
    // fixed_window and both sliding windows: an ISO duration; fixed_window also `day`, `week`, `month` or
    // `year` in UTC. concurrency: how long a lease lasts.
    std::string window{};
    std::string start{};     // fixed_window with a duration: `aligned` (the default) or `first_hit`.
    std::string cooldown{};  // cooldown: an ISO duration.
    std::optional<Tokens> max_per_hour{};
    std::string on_store_failure{};  // `open` (the default), `closed` or `local`.
    bool shadow = false;
    std::optional<Tokens> lease{};  // token_bucket: at most its capacity.

    bool operator==(const PlanDraft&) const = default;
};

// Fails on a field that is missing, malformed, out of bounds, or of no use to the algorithm.
Result<Plan, PlanError> make_plan(const PlanDraft& draft);

// Reads `10/s`, `600/m`, `1000/PT15M`.
Result<Refill, PlanError> parse_refill(std::string_view text);

}  // namespace sluice
