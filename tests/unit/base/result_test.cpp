#include "base/result.hpp"

#include <memory>
#include <string>

#include <gtest/gtest-spi.h>
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

struct Refusal {
    Fault fault;
    std::string detail;
};

// What a test says that asks a Result for the side it does not have.
template <class Ask>
std::string mistake(const Ask& ask) {
    testing::TestPartResultArray said;
    {
        const testing::ScopedFakeTestPartResultReporter reporter{
            testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &said};
        EXPECT_THROW(ask(), testing::AssertionException);
    }
    if (said.size() != 1) {
        return "it said " + std::to_string(said.size()) + " things";
    }
    const testing::TestPartResult& only = said.GetTestPartResult(0);
    const std::string file = only.file_name() == nullptr ? "" : only.file_name();
    return file.substr(file.rfind('/') + 1) + ":" + std::to_string(only.line_number()) + ": " +
           only.summary();
}

TEST(WrongSideOfAResult, FailsATestWithWhatItHoldsAndTheLineThatAsked) {
    const Result<std::string, Refusal> refused = Unexpected{Refusal{Fault::Large, "the disk is full"}};
    const Result<int, Fault> good = 5;
    const Result<void, std::string> done;
    const std::string here = "result_test.cpp:";
    const std::string is_refused =
        ": Failed\nA Result was asked for the value, and holds a sluice::{anonymous}::Refusal: "
        "the disk is full";

    EXPECT_EQ(mistake([&] { static_cast<void>(refused.value()); }),
              here + std::to_string(__LINE__ - 1) + is_refused);
    EXPECT_EQ(mistake([&] { static_cast<void>(*refused); }),
              here + std::to_string(__LINE__ - 1) + is_refused);
    EXPECT_EQ(mistake([&] { static_cast<void>(refused->size()); }),
              here + std::to_string(__LINE__ - 1) + is_refused);
    EXPECT_EQ(mistake([&] { static_cast<void>(good.error()); }),
              here + std::to_string(__LINE__ - 1) +
                  ": Failed\nA Result was asked for the error, and holds a int: 5");
    EXPECT_EQ(mistake([&] { static_cast<void>(done.error()); }),
              here + std::to_string(__LINE__ - 1) +
                  ": Failed\nA Result was asked for the error, and holds a std::monostate");
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
