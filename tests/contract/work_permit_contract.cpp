// Permits that the keeper of gates gave to others.
#include "contract/work_store_contract.hpp"

namespace sluice::test {
namespace {

using ::testing::SizeIs;

TEST_P(WorkStoreContract, KeepsPermitsUntilTheyAreOverAlsoOverARestart) {
    const Subject gate{SubjectKind::Host, "h1"};
    const std::vector<OutsidePermit> given{{"long", gate, 20s}, {"short", {SubjectKind::Pool, "a"}, 5s}};
    const auto keeping = works().keep("node").value();
    ASSERT_TRUE(keeping);
    ASSERT_EQ(works().note_permits(keeping->fence, given).value(), true);

    restart();
    around_.clock.advance(10s);

    const auto left = works().outside_permits().value();
    ASSERT_THAT(left, SizeIs(1));
    EXPECT_EQ(left[0].id, "long");
    EXPECT_EQ(left[0].gate, gate);
    EXPECT_EQ(left[0].left, 10s);
}

TEST_P(WorkStoreContract, ForgetsPermitsThatAreDropped) {
    const std::vector<OutsidePermit> given{{"one", {SubjectKind::Pool, "a"}, 20s},
                                           {"two", {SubjectKind::Pool, "a"}, 20s}};
    const std::vector<std::string> over{"one", "never given"};
    ASSERT_TRUE(works().note_permits(works().keep("node").value().value().fence, given).value());

    ASSERT_TRUE(works().drop_permits(over));
    ASSERT_TRUE(works().drop_permits(over));

    EXPECT_THAT(works().outside_permits().value(), SizeIs(1));
    restart();
    ASSERT_THAT(works().outside_permits().value(), SizeIs(1));
    EXPECT_EQ(works().outside_permits().value()[0].id, "two");
}

}  // namespace
}  // namespace sluice::test
