#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <sluice/rate_limiter.hpp>

namespace sluice::test {

// A limiter with all that must outlive it. Whatever its store, it begins with nothing held against a key.
class LimiterUnderTest {
public:
    virtual ~LimiterUnderTest() = default;
    virtual RateLimiter& limiter() = 0;
};

struct LimiterKind {
    std::string name;
    // Null: its server is not there.
    std::function<std::unique_ptr<LimiterUnderTest>(MissingPlan)> make;
};

// For the names of tests, which would else have its bytes.
inline void PrintTo(const LimiterKind& kind, std::ostream* out) { *out << kind.name; }

// A limiter that the program puts together: plans of a registry, over this repository.
std::unique_ptr<LimiterUnderTest> limiter_over(std::unique_ptr<RateLimiterRepository> repository,
                                               MissingPlan missing);

// A limiter that open_limiter() made of a file with the same plans, and these lines. Throws if it fails.
std::unique_ptr<LimiterUnderTest> limiter_of_file(const std::string& lines, MissingPlan missing);

// What every limiter of the library promises, whatever its store.
class RateLimiterContract : public ::testing::TestWithParam<LimiterKind> {
protected:
    void SetUp() override;

    // Begins anew with a limiter of the same kind.
    void begin(MissingPlan missing);
    RateLimiter& limiter() { return world_->limiter(); }
    std::int64_t left(std::string_view key, std::string_view plan) {
        return limiter().allow(key, {plan}, 0).remaining;
    }

private:
    std::unique_ptr<LimiterUnderTest> world_;
};

}  // namespace sluice::test
