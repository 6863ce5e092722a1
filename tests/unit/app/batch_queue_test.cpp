#include "app/batch_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr SteadyTime kNow{1h};

struct Ticket {
    int name;
    SteadyTime deadline = SteadyTime::max();
    std::size_t weight = 1;
    WhenFull when_full = WhenFull::Refuse;
};

class BatchQueueTest : public testing::Test {
protected:
    bool add(Ticket ticket) { return queue_.add(ticket); }
    void take() {
        batch_.clear();
        late_.clear();
        queue_.take(kNow, batch_, late_);
    }
    static std::vector<int> names(const std::vector<Ticket>& tickets) {
        std::vector<int> all;
        for (const Ticket& ticket : tickets) {
            all.push_back(ticket.name);
        }
        return all;
    }

    BatchQueue<Ticket> queue_{{.batch_max = 3, .queue_max = 5}};
    std::vector<Ticket> batch_;
    std::vector<Ticket> late_;
};

TEST_F(BatchQueueTest, CallsLateWhoseDeadlineHasCome) {
    add({1, kNow + 1ns});
    add({2, kNow});
    add({3});

    take();

    EXPECT_THAT(names(batch_), ElementsAre(1, 3));
    EXPECT_THAT(names(late_), ElementsAre(2));
    EXPECT_EQ(queue_.waiting(), 0U);
    EXPECT_TRUE(queue_.empty());
}

TEST_F(BatchQueueTest, CountsTheLateOnesIntoTheBatch) {
    add({1, kNow});
    add({2, kNow, 2});
    add({3});

    take();

    EXPECT_THAT(names(late_), ElementsAre(1, 2));
    EXPECT_THAT(names(batch_), IsEmpty());
    take();
    EXPECT_THAT(names(batch_), ElementsAre(3));
}

TEST_F(BatchQueueTest, GivesUpLateOnesFromTheFrontAndAFewAtATime) {
    add({1, kNow - 1s});
    add({2, kNow});
    add({3, kNow});
    add({4, kNow + 1ns});
    add({5, kNow});
    EXPECT_EQ(queue_.first_deadline(), kNow - 1s);

    queue_.take_late(kNow, late_, 2);
    EXPECT_THAT(names(late_), ElementsAre(1, 2));
    queue_.take_late(kNow, late_, 2);

    EXPECT_THAT(names(late_), ElementsAre(1, 2, 3)) << "nobody overtakes";
    EXPECT_EQ(queue_.first_deadline(), kNow + 1ns);
    EXPECT_EQ(queue_.waiting(), 2U);
}

TEST_F(BatchQueueTest, ServesThoseWhoWaitForRoomInTurnsWithTheOthers) {
    add({1, SteadyTime::max(), 9, WhenFull::WaitForRoom});
    add({2, SteadyTime::max(), 1, WhenFull::WaitForRoom});
    add({3, SteadyTime::max(), 5});
    EXPECT_FALSE(add({4})) << "there is no room";
    EXPECT_EQ(queue_.first_deadline(), SteadyTime::max());

    for (const int name : {3, 1, 2}) {
        take();
        EXPECT_THAT(names(batch_), ElementsAre(name));
    }
}

}  // namespace
}  // namespace sluice
