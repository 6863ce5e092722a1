#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/limits/limit_store.hpp"
#include "support/limit_words.hpp"

namespace sluice::test {

// A store and the clock it decides by. Stores join the contract by implementing this; one whose clock cannot
// be set shifts what it stores instead.
class LimitStoreUnderTest {
public:
    virtual ~LimitStoreUnderTest() = default;
    virtual LimitStore& store() = 0;
    virtual void set_clock(Moment now) = 0;
    // A key for each name, all of them such that the store can decide them together.
    virtual std::string near(std::string_view name) { return std::string{name}; }
};

struct LimitStoreKind {
    std::string name;
    // Null when the server that the store needs was not started.
    std::function<std::unique_ptr<LimitStoreUnderTest>()> make;
    std::uint64_t round_trips = 1;  // Long tests are shorter by this factor where each step asks a server.
};
inline void PrintTo(const LimitStoreKind& kind, std::ostream* out) { *out << kind.name; }

// One of several checks together, for the key that is near the others.
struct Part {
    std::string key;
    std::vector<const Plan*> plans;
    Tokens cost = 1;
};

// What every LimitStore promises.
class LimitStoreContract : public testing::TestWithParam<LimitStoreKind> {
protected:
    void SetUp() override {
        world_ = GetParam().make();
        if (!world_) {
            const char* const continuous = std::getenv("CI");
            ASSERT_FALSE(continuous != nullptr && std::string_view{continuous} == "true");
            GTEST_SKIP() << "its server is not there; tools/services starts it";
        }
        at(kMidnight);
    }

    LimitStore& store() { return world_->store(); }
    void at(Moment now) { world_->set_clock(now); }

    std::string near(std::string_view name) { return world_->near(name); }

    using Plans = std::vector<const Plan*>;
    CheckOutcome outcome(std::string_view key, const Plans& plans, Tokens cost = 1) {
        const Check check{key, plans, cost};
        CheckOutcome result = Verdict{};
        store().take({&check, 1}, {&result, 1});
        return result;
    }
    // REQUIRES: no fault.
    Verdict take(std::string_view key, const Plans& plans, Tokens cost = 1) {
        return outcome(key, plans, cost).value();
    }
    LimitFault fault(std::string_view key, const Plans& plans, Tokens cost = 1) {
        const CheckOutcome result = outcome(key, plans, cost);
        return result ? throw std::runtime_error{"it was no fault"} : result.error();
    }
    CheckOutcome outcome_of(const std::vector<Part>& parts) {
        std::vector<std::string> keys;
        for (const Part& part : parts) {
            keys.push_back(near(part.key));
        }
        std::vector<Check> checks;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            checks.push_back({keys[i], parts[i].plans, parts[i].cost});
        }
        return store().take_together(checks);
    }
    // REQUIRES: no fault.
    Verdict together(const std::vector<Part>& parts) { return outcome_of(parts).value(); }
    LimitFault fault_of(const std::vector<Part>& parts) {
        const CheckOutcome result = outcome_of(parts);
        return result ? throw std::runtime_error{"it was no fault"} : result.error();
    }
    Tokens left(std::string_view key, const Plan& plan) { return take(key, {&plan}, 0).remaining; }

    std::unique_ptr<LimitStoreUnderTest> world_;
};

}  // namespace sluice::test
