#include "core/limits/plan.hpp"

#include <algorithm>
#include <array>
#include <atomic>

namespace sluice {
namespace {

constexpr std::array<std::string_view, std::variant_size_v<LimitRule>> kAlgorithms{
    "token_bucket", "fixed_window", "sliding_window", "sliding_window_estimate", "cooldown", "concurrency"};

bool is_name_character(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == ':' || c == '-';
}

std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last{0};
    return 1 + last.fetch_add(1, std::memory_order_relaxed);  // A number, which guards nothing.
}

}  // namespace

bool is_plan_name(std::string_view name) {
    return !name.empty() && name.size() <= Plan::kNameBytesMax &&
           std::all_of(name.begin(), name.end(), is_name_character);
}

Result<Plan, PlanError> Plan::make(std::string_view name, const LimitRule& rule, PlanTraits traits) {
    if (!is_plan_name(name)) {
        return Unexpected{PlanError{"a plan's name is 1 to 128 letters, digits and _ . : -"}};
    }
    return Plan{std::string{name}, rule, traits};
}

Plan::Plan(std::string name, const LimitRule& rule, PlanTraits traits)
    : name_{std::move(name)}, id_{next_id()}, rule_{rule}, traits_{traits} {}

std::string_view Plan::algorithm() const { return kAlgorithms.at(rule_.index()); }

LimitState Plan::fresh() const {
    return std::visit(
        [](const auto& rule) {
            using Rule = std::remove_cvref_t<decltype(rule)>;
            return LimitState{std::in_place_type<typename Rule::State>, rule.fresh()};
        },
        rule_);
}

}  // namespace sluice
