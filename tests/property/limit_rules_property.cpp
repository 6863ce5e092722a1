// Random histories with clocks that step, against models that are too simple to be wrong: time passes
// microsecond by microsecond, and every charge is kept.
#include <map>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "support/limit_words.hpp"

namespace sluice::test {
namespace {

constexpr std::uint64_t kHistories = 10'000;
constexpr int kTurns = 40;

std::int64_t between(Random& random, std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most - least + 1)));
}

// A clock that mostly goes on, sometimes stands, and sometimes steps back.
Moment step(Random& random, Moment now, std::int64_t scale) {
    const auto kind = random.below(8);
    const std::int64_t by = kind < 5    ? between(random, 0, scale)
                            : kind == 5 ? 0
                            : kind == 6 ? between(random, 0, 5 * scale)
                                        : -between(random, 0, 2 * scale);
    return now + Wait{by};
}

// What every rule promises of a state, whichever it is.
template <class Rule>
void check_promises(const Keyed<Rule>& key, const Ask& ask) {
    const Rule& rule = key.rule();
    const Standing standing = rule.look(key.state(), ask);
    ASSERT_GE(standing.remaining, 0);
    ASSERT_LE(standing.remaining, rule.limit());
    ASSERT_GE(standing.reset_after, 0us);
    if (standing.allowed) {
        ASSERT_EQ(standing.retry_after, 0us);
        return;
    }
    ASSERT_GT(standing.retry_after, 0us);
    const Moment passes = ask.now + standing.retry_after;
    ASSERT_TRUE(rule.look(key.state(), {passes, ask.cost}).allowed) << "it waits too short a time";
    ASSERT_FALSE(rule.look(key.state(), {passes - 1us, ask.cost}).allowed) << "it waits too long";
    ASSERT_TRUE(rule.look(key.state(), {ask.now + standing.reset_after, rule.limit()}).allowed);
}

// Runs histories of takes, peeks and refunds through a rule and its model. A Model has the constructor
// Model(Random&), `Rule rule()`, `std::int64_t scale()`, `bool take(Moment, Tokens)` and
// `void refund(Moment, Tokens)`.
template <class Model>
void compare(std::uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{seed};
    Model model{random};
    Keyed key{model.rule()};
    Moment now = kMidnight + Wait{between(random, 0, 1'000)};
    for (int turn = 0; turn < kTurns; ++turn) {
        now = step(random, now, model.scale());
        const Tokens cost = between(random, 0, std::min<Tokens>(4, key.rule().limit()));
        if (random.below(10) == 0) {
            key.refund(now, cost);
            model.refund(now, cost);
            continue;
        }
        ASSERT_NO_FATAL_FAILURE(check_promises(key, {now, cost}));
        const auto before = key.state();
        const Standing standing = key.take(now, cost);
        if (cost == 0 || !standing.allowed) {
            ASSERT_EQ(key.state(), before) << "a check that is not charged changed the state";
        }
        ASSERT_EQ(standing.allowed, model.take(now, cost)) << "turn " << turn;
        const Ask later{std::max(key.idle_at(), now), std::max<Tokens>(cost, 1)};
        ASSERT_EQ(key.rule().look(key.state(), later), key.rule().look(key.rule().fresh(), later))
            << "an idle state differs from none";
    }
}

template <class Model>
void compare_all() {
    for (std::uint64_t seed = 1; seed <= kHistories && !testing::Test::HasFailure(); ++seed) {
        compare<Model>(seed);
    }
}

// Fills the bucket microsecond by microsecond.
class BucketModel {
public:
    explicit BucketModel(Random& random)
        : capacity_{between(random, 1, 12)},
          tokens_{between(random, 1, 9)},
          period_{between(random, 1, 60)},
          level_{capacity_ * period_} {}

    [[nodiscard]] TokenBucket rule() const { return bucket(capacity_, tokens_, Wait{period_}); }
    [[nodiscard]] std::int64_t scale() const { return period_; }

    bool take(Moment now, Tokens cost) {
        // Denied checks and peeks may move the model's time, because filling up in steps loses nothing.
        pass_time(now);
        const bool fits = level_ >= std::max<Tokens>(cost, 1) * period_;
        level_ -= fits ? cost * period_ : 0;
        charged_ = fits && cost > 0 ? time_ : charged_;
        return fits;
    }
    void refund(Moment now, Tokens cost) {
        pass_time(now);
        level_ = std::min(capacity_ * period_, level_ + cost * period_);
        charged_ = time_;
    }

private:
    // Time goes back no further than to the last charge; what was filled since is taken out again.
    void pass_time(Moment now) {
        const Moment to = std::max(now, charged_);
        if (to < time_) {
            level_ = at_charge_;
            time_ = charged_;
        }
        if (time_ == charged_) {
            at_charge_ = level_;
        }
        for (; time_ < to; time_ += 1us) {
            level_ = std::min(capacity_ * period_, level_ + tokens_);
        }
    }

    Tokens capacity_, tokens_;
    std::int64_t period_;
    std::int64_t level_;
    std::int64_t at_charge_ = level_;
    Moment time_ = kMidnight - 1ms;
    Moment charged_ = kMidnight - 1ms;
};

// Keeps every charge with its time; what counts is summed anew for each question.
class LogModel {
public:
    explicit LogModel(Random& random) : limit_{between(random, 1, 8)}, window_{between(random, 1, 50)} {}

    [[nodiscard]] std::int64_t scale() const { return window_ / 2 + 1; }

    bool take(Moment now, Tokens cost) {
        const Moment at = seen(now);
        Tokens used = 0;
        for (const auto& [when, charged] : charges_) {
            used += when + Wait{window_} > at ? charged : 0;
        }
        const bool fits = used + std::max<Tokens>(cost, 1) <= limit_;
        if (fits && cost > 0) {
            charges_.emplace_back(at, cost);
            newest_ = at;
        }
        return fits;
    }
    void refund(Moment now, Tokens cost) {
        for (auto& [when, charged] : charges_) {
            if (when + Wait{window_} > seen(now)) {
                const Tokens back = std::min(cost, charged);
                cost -= back;
                charged -= back;
            }
        }
    }

protected:
    [[nodiscard]] Moment seen(Moment now) const { return std::max(now, newest_); }

    Tokens limit_;
    std::int64_t window_;
    std::vector<std::pair<Moment, Tokens>> charges_;
    Moment newest_{};
};

class SlidingModel : public LogModel {
public:
    using LogModel::LogModel;
    [[nodiscard]] SlidingWindow rule() const { return good(SlidingWindow::make(limit_, Wait{window_})); }
};

class LeaseModel : public LogModel {
public:
    using LogModel::LogModel;
    [[nodiscard]] Concurrency rule() const { return good(Concurrency::make(limit_, Wait{window_})); }
};

// Counts per window in a table that forgets nothing.
class AlignedModel {
public:
    explicit AlignedModel(Random& random) : limit_{between(random, 1, 8)}, size_{between(random, 1, 50)} {}

    [[nodiscard]] FixedWindow rule() const { return aligned(limit_, Wait{size_}); }
    [[nodiscard]] std::int64_t scale() const { return size_ / 2 + 1; }

    bool take(Moment now, Tokens cost) {
        const std::int64_t window = window_of(now);
        const bool fits = used_[window] + std::max<Tokens>(cost, 1) <= limit_;
        if (fits && cost > 0) {
            used_[window] += cost;
            newest_ = window;
        }
        return fits;
    }
    void refund(Moment now, Tokens cost) {
        newest_ = window_of(now);
        used_[newest_] = std::max<Tokens>(0, used_[newest_] - cost);
    }

private:
    [[nodiscard]] std::int64_t window_of(Moment now) const {
        return std::max(newest_, microseconds_of(now) / size_);
    }

    Tokens limit_;
    std::int64_t size_;
    std::int64_t newest_ = 0;
    std::map<std::int64_t, Tokens> used_;
};

// Tries every cost from the definition: current + cost + previous * rest / window <= limit, as fractions.
class EstimateModel {
public:
    explicit EstimateModel(Random& random) : limit_{between(random, 1, 20)}, size_{between(random, 1, 50)} {}

    [[nodiscard]] SlidingWindowEstimate rule() const {
        return good(SlidingWindowEstimate::make(limit_, Wait{size_}));
    }
    [[nodiscard]] std::int64_t scale() const { return size_ / 2 + 1; }

    bool take(Moment now, Tokens cost) {
        const std::int64_t at = std::max(newest_ * size_, microseconds_of(now));
        const std::int64_t window = at / size_;
        const std::int64_t rest = size_ - at % size_;
        const Tokens wanted = used_[window] + std::max<Tokens>(cost, 1);
        const bool fits = wanted * size_ + used_[window - 1] * rest <= limit_ * size_;
        if (fits && cost > 0) {
            used_[window] += cost;
            newest_ = window;
        }
        return fits;
    }
    void refund(Moment now, Tokens cost) {
        newest_ = std::max(newest_, microseconds_of(now) / size_);
        used_[newest_] = std::max<Tokens>(0, used_[newest_] - cost);
    }

private:
    Tokens limit_;
    std::int64_t size_;
    std::int64_t newest_ = 0;
    std::map<std::int64_t, Tokens> used_;
};

TEST(LimitRulesProperty, TokenBucketsFillLikeOneThatFillsEveryMicrosecond) { compare_all<BucketModel>(); }
TEST(LimitRulesProperty, SlidingWindowsCountLikeALogThatForgetsNothing) { compare_all<SlidingModel>(); }
TEST(LimitRulesProperty, LeasesExpireLikeALogThatForgetsNothing) { compare_all<LeaseModel>(); }
TEST(LimitRulesProperty, AlignedWindowsCountLikeATableOfAllWindows) { compare_all<AlignedModel>(); }
TEST(LimitRulesProperty, EstimatesFollowTheirDefinition) { compare_all<EstimateModel>(); }

// The promises alone, for rules whose model would be the rule again.
template <class Rule>
void keep_promises(const Rule& rule, std::int64_t scale) {
    for (std::uint64_t seed = 1; seed <= kHistories && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random{seed};
        Keyed key{rule};
        Moment now = kMidnight;
        for (int turn = 0; turn < kTurns; ++turn) {
            now = step(random, now, scale);
            const Tokens cost = between(random, 0, std::min<Tokens>(3, rule.limit()));
            ASSERT_NO_FATAL_FAILURE(check_promises(key, {now, cost}));
            key.take(now, cost);
        }
    }
}

TEST(LimitRulesProperty, WindowsFromTheFirstHitWaitExactly) { keep_promises(from_first_hit(5, 100us), 40); }
TEST(LimitRulesProperty, CalendarMonthsWaitExactly) {
    keep_promises(calendar(5, WindowKind::Month), Wait{24h * 10}.count());
}
TEST(LimitRulesProperty, CooldownsWaitExactly) {
    keep_promises(good(Cooldown::make(5min, 4)), Wait{10min}.count());
}

// What the header of SlidingWindowEstimate promises, of greedy callers who take whatever they get.
TEST(LimitRulesProperty, AnEstimateAdmitsAtMostTwiceItsLimitInAnyWindow) {
    constexpr std::int64_t kWindow = 100;
    constexpr Tokens kLimit = 20;
    Tokens worst = 0;
    for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random{seed};
        Keyed key{good(SlidingWindowEstimate::make(kLimit, Wait{kWindow}))};
        std::vector<std::int64_t> admitted;
        for (std::int64_t at = 0; at < 10 * kWindow; at += between(random, 1, 30)) {
            for (auto tries = random.below(40); tries > 0 && key.take(kMidnight + Wait{at}).allowed;
                 --tries) {
                admitted.push_back(at);
            }
        }
        for (std::size_t first = 0, last = 0; last < admitted.size(); ++last) {
            while (admitted[first] + kWindow <= admitted[last]) {
                ++first;
            }
            worst = std::max(worst, static_cast<Tokens>(last - first + 1));
        }
    }
    EXPECT_LE(worst, 2 * kLimit);
    EXPECT_GT(worst, kLimit);  // It is an estimate: the bound says something.
}

TEST(LimitRulesProperty, AnEstimateOfEvenTrafficIsOffByAtMostOneToken) {
    constexpr Tokens kLimit = 50;
    Keyed key{good(SlidingWindowEstimate::make(kLimit, 100us))};
    Tokens admitted = 0;

    for (std::int64_t at = 0; at < 10'000; ++at) {
        admitted += key.take(kMidnight + Wait{at}, at % 2 == 0 ? 1 : 0).allowed && at % 2 == 0 ? 1 : 0;
    }

    EXPECT_LE(admitted, 100 * kLimit);
    EXPECT_GE(admitted, 100 * (kLimit - 1));
}

}  // namespace
}  // namespace sluice::test
