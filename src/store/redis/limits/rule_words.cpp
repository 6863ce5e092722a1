#include "store/redis/limits/rule_words.hpp"

namespace sluice::redis {
namespace {

struct RuleWords {
    char letter;
    std::int64_t a;
    std::int64_t b;
};

struct Describe {
    RuleWords operator()(const TokenBucket& rule) const { return {'b', rule.unit(), rule.speed()}; }
    RuleWords operator()(const FixedWindow& rule) const {
        return {'w', static_cast<std::int64_t>(rule.cut().kind()), rule.cut().size().count()};
    }
    RuleWords operator()(const SlidingWindow& rule) const { return {'l', rule.window().count(), 0}; }
    RuleWords operator()(const SlidingWindowEstimate& rule) const { return {'e', rule.window().count(), 0}; }
    RuleWords operator()(const Cooldown& rule) const { return {'c', rule.pause().count(), 0}; }
    RuleWords operator()(const Concurrency& rule) const { return {'p', rule.term().count(), 0}; }
};

// The script knows the kinds of windows by these numbers.
static_assert(static_cast<int>(WindowKind::Aligned) == 0 && static_cast<int>(WindowKind::FirstHit) == 1 &&
              static_cast<int>(WindowKind::Day) == 2 && static_cast<int>(WindowKind::Week) == 3 &&
              static_cast<int>(WindowKind::Month) == 4 && static_cast<int>(WindowKind::Year) == 5);

}  // namespace

void append_rule_words(std::vector<std::string>& words, const LimitRule& rule, Tokens cost, bool shadow) {
    const RuleWords described = std::visit(Describe{}, rule);
    const char letter = shadow ? static_cast<char>(described.letter - 'a' + 'A') : described.letter;
    words.emplace_back(1, letter);
    words.push_back(std::to_string(cost));
    words.push_back(std::to_string(std::visit([](const auto& each) { return each.limit(); }, rule)));
    words.push_back(std::to_string(described.a));
    words.push_back(std::to_string(described.b));
}

}  // namespace sluice::redis
