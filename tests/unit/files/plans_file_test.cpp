#include "files/plans_file.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_folder.hpp"

namespace sluice {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class PlansFile : public ::testing::Test {
protected:
    Result<std::vector<PlanDraft>, std::string> read(const std::string& text) {
        std::ofstream{folder_ / "plans.yaml"} << text;
        return read_plans_file(folder_ / "plans.yaml");
    }
    std::string error(const std::string& text) {
        const auto drafts = read(text);
        return drafts ? "no error" : drafts.error();
    }

    test::TempFolder folder_;
};

TEST_F(PlansFile, HoldsPlansAsTheContractSpellsThem) {
    const auto drafts = read(
        "plans:\n"
        "  - {name: gold, algorithm: token_bucket, capacity: 100, refill: 10/s, lease: 20}\n"
        "  - name: alerts\n"
        "    algorithm: cooldown\n"
        "    cooldown: PT5M\n"
        "    max_per_hour: 4\n"
        "    on_store_failure: closed\n"
        "    shadow: true\n"
        "  - {name: daily, algorithm: fixed_window, capacity: 5, window: PT24H, start: first_hit}\n");

    ASSERT_TRUE(drafts) << drafts.error();
    ASSERT_EQ(drafts->size(), 3U);
    EXPECT_EQ((*drafts)[0].name, "gold");
    EXPECT_EQ((*drafts)[0].capacity, 100);
    EXPECT_EQ((*drafts)[0].refill, "10/s");
    EXPECT_EQ((*drafts)[0].lease, 20);
    EXPECT_EQ((*drafts)[1].lease, std::nullopt);
    EXPECT_EQ((*drafts)[1].cooldown, "PT5M");
    EXPECT_EQ((*drafts)[1].max_per_hour, 4);
    EXPECT_EQ((*drafts)[1].on_store_failure, "closed");
    EXPECT_TRUE((*drafts)[1].shadow);
    EXPECT_EQ((*drafts)[2].window, "PT24H");
    EXPECT_EQ((*drafts)[2].start, "first_hit");
    for (const PlanDraft& draft : *drafts) {
        EXPECT_TRUE(make_plan(draft)) << draft.name;
    }
}

TEST_F(PlansFile, MayHoldNoPlans) { EXPECT_TRUE(read("plans: []\n")); }

TEST_F(PlansFile, NamesTheNearestKnownKey) {
    EXPECT_THAT(
        error("plans:\n  - {name: gold, algorithm: token_bucket, capcity: 100}\n"),
        EndsWith("plans.yaml: plan 'gold' at line 2 has an unknown key 'capcity'; the nearest known one is "
                 "'capacity'."));
    EXPECT_THAT(error("plan: []\n"),
                EndsWith("the key 'plan' is unknown; the nearest known one is 'plans'."));
    EXPECT_THAT(error("plans: []\nmore: 1\n"), HasSubstr("the key 'more' is unknown"));
}

TEST_F(PlansFile, SaysWhatIsWrongAndWhere) {
    EXPECT_THAT(error(""), EndsWith("it must hold one list, 'plans:'."));
    EXPECT_THAT(error("- 1\n"), EndsWith("it must hold one list, 'plans:'."));
    EXPECT_THAT(error("plans: 7\n"), EndsWith("it must hold one list, 'plans:'."));
    EXPECT_THAT(error("plans:\n  - 7\n"), EndsWith("the plan at line 2 is no tree of keys and values."));
    EXPECT_THAT(error("plans:\n  - {algorithm: token_bucket}\n"),
                EndsWith("the plan at line 2 has no name."));
    EXPECT_THAT(error("plans:\n  - {name: a, name: b}\n"), HasSubstr("has the key 'name' twice"));
    EXPECT_THAT(error("plans:\n  - {name: a, capacity: 1.5}\n"),
                HasSubstr("plan 'a' at line 2 has a capacity that is no whole number: '1.5'"));
    EXPECT_THAT(error("plans:\n  - {name: a, lease: many}\n"),
                HasSubstr("has a lease that is no whole number: 'many'"));
    EXPECT_THAT(error("plans:\n  - {name: a, capacity: }\n"), HasSubstr("gives 'capacity' no single value"));
    EXPECT_THAT(error("plans:\n  - {name: a, window: [1]}\n"), HasSubstr("gives 'window' no single value"));
    EXPECT_THAT(error("plans:\n  - {name: a, shadow: maybe}\n"), HasSubstr("a shadow that is neither"));
    EXPECT_THAT(error("plans: [\n"), HasSubstr("is not YAML"));
    EXPECT_THAT(read_plans_file(folder_ / "absent.yaml").error(),
                EndsWith("cannot be read: No such file or directory."));
}

}  // namespace
}  // namespace sluice
