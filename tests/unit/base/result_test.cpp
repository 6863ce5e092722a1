#include "base/result.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/unique_function.hpp"

namespace sluice {
namespace {

enum class Fault { Small, Large };

TEST(Result, HoldsAValue) {
    const Result<int, Fault> result = 5;

    ASSERT_TRUE(result);
    EXPECT_TRUE(result.has_value());
    EXPECT_EQ(result.value(), 5);
    EXPECT_EQ(*result, 5);
}

TEST(Result, HoldsAnError) {
    const Result<int, Fault> result = Unexpected{Fault::Large};

    ASSERT_FALSE(result);
    EXPECT_FALSE(result.has_value());
    EXPECT_EQ(result.error(), Fault::Large);
}

TEST(Result, KeepsValueAndErrorOfOneTypeApart) {
    const Result<std::string, std::string> good = std::string{"text"};
    const Result<std::string, std::string> bad = Unexpected{std::string{"text"}};

    EXPECT_TRUE(good);
    EXPECT_FALSE(bad);
    EXPECT_EQ(good.value(), bad.error());
}

TEST(Result, MovesItsValueOut) {
    Result<std::unique_ptr<int>, Fault> result = std::make_unique<int>(3);

    const std::unique_ptr<int> taken = std::move(result).value();

    EXPECT_EQ(*taken, 3);
}

TEST(Result, MovesItsErrorOut) {
    Result<int, std::unique_ptr<int>> result = Unexpected{std::make_unique<int>(4)};

    const std::unique_ptr<int> taken = std::move(result).error();

    EXPECT_EQ(*taken, 4);
}

TEST(Result, LetsItsValueBeChangedInPlace) {
    Result<std::string, Fault> result = std::string{"a"};

    result->append("b");
    *result += "c";

    EXPECT_EQ(result.value(), "abc");
}

TEST(Result, OfNothingIsGoodUnlessAnErrorIsGiven) {
    const Result<void, Fault> good;
    const Result<void, Fault> bad = Unexpected{Fault::Small};

    EXPECT_TRUE(good);
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error(), Fault::Small);
}

TEST(UniqueFunction, OwnsACallableThatCannotBeCopied) {
    UniqueFunction<int(int)> add = [base = std::make_unique<int>(40)](int more) { return *base + more; };

    EXPECT_EQ(add(2), 42);
}

TEST(UniqueFunction, IsEmptyUntilGivenACallableAndAfterBeingMovedFrom) {
    UniqueFunction<void()> nothing;
    UniqueFunction<int()> first = [] { return 1; };
    UniqueFunction<int()> second = std::move(first);

    EXPECT_FALSE(nothing);
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): being empty is what is promised.
    ASSERT_TRUE(second);
    EXPECT_EQ(second(), 1);
}

TEST(UniqueFunction, ReleasesWhatItOwnsExactlyOnce) {
    const auto shared = std::make_shared<int>(0);
    {
        UniqueFunction<void()> one = [shared] {};
        UniqueFunction<void()> two = std::move(one);
        EXPECT_EQ(shared.use_count(), 2);
    }

    EXPECT_EQ(shared.use_count(), 1);
}

TEST(UniqueFunction, PassesArgumentsOnWithoutCopies) {
    UniqueFunction<std::unique_ptr<int>(std::unique_ptr<int>)> pass = [](std::unique_ptr<int> value) {
        return value;
    };

    EXPECT_EQ(*pass(std::make_unique<int>(9)), 9);
}

}  // namespace
}  // namespace sluice
