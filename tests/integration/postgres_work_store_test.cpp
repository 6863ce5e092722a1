// The store of works on PostgreSQL, where several nodes and applications meet.
#include "store/postgres/work/postgres_work_store.hpp"

#include <map>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/postgres_fixture.hpp"
#include "support/recording_log.hpp"
#include "support/work_words.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

const Subject kHost{SubjectKind::Host, "h1"};

class UnmeasuredPool final : public postgres::PoolMetrics {
public:
    void waited(std::chrono::nanoseconds) override {}
};

// Takes what begins with https:// and names no "forbidden" host.
Result<Route, std::string> route_of(const Target& target) {
    if (target.address.find("forbidden") != std::string::npos) {
        return Unexpected{std::string{"Calls there are not allowed."}};
    }
    return Route{"h1", target.address};
}

// One node of several, and what it was told.
class WorkNode {
public:
    explicit WorkNode(const std::string& dsn)
        : works_{make_postgres_work_store(open_server({test_settings(dsn), 1, 8}, log_, metrics_), route_of,
                                          log_)},
          listener_{test::connect(dsn)} {
        ask(*listener_, "listen sluice");
        works_->on_news([this](const WorkTidings& tidings) { told_.push_back(tidings.filled); });
    }

    postgres::SharedWorkStore* operator->() { return works_.get(); }
    postgres::SharedWorkStore& operator*() { return *works_; }

    // What it is told by others, as the store of slots hands it on. REQUIRES: something was said.
    std::vector<std::vector<Lane>> hear() {
        told_.clear();
        const auto said = listener_->wait(10s);
        for (std::size_t i = 0; said && i < said->size(); ++i) {
            heard_.push_back((*said)[i].payload);
            works_->heed((*said)[i].payload);
        }
        return told_;
    }
    [[nodiscard]] const std::vector<std::string>& heard() const { return heard_; }

private:
    RecordingLog log_{LogLevel::Error};
    UnmeasuredPool metrics_;
    std::unique_ptr<postgres::SharedWorkStore> works_;
    std::unique_ptr<postgres::Connection> listener_;
    std::vector<std::vector<Lane>> told_;
    std::vector<std::string> heard_;
};

class PostgresWork : public PostgresTest {
protected:
    PostgresWork() : PostgresTest{Furnished::WithSlots} {}
    void SetUp() override {
        PostgresTest::SetUp();
        if (IsSkipped()) {
            return;
        }
        sql_ = connect();
        set_server_clock(*sql_, kNoon + 500ms);
        run("insert into sluice.pool values ('a', 1000, 100);"
            " insert into rl_event_wndw_config (rl_wndw_config_id, wndw_config_nm, wndw_max_event_ct,"
            " wndw_size_iso_dur_tx, config_eff_strt_dt, act_in, config_no, pool_nm, wndw_size_ms, chunk_ct)"
            " values ('cfg-1', 'a', 100, 'PT1S', now(), 1, nextval('sluice.config_number'), 'a', 1000, 100)");
    }

    std::string run(const std::string& statements) { return ask(*sql_, statements); }
    // Works e1 to e<count>, due at noon, one millisecond after the other. `host`: as SQL, null if nobody has
    // read the address yet.
    void bring(int count, const std::string& host = "'h1'", const std::string& url = "https://h1/hook") {
        run("insert into sluice.work_order (event_id, target_cd, address_tx, host_nm, endpoint_nm, payload)"
            " select 'e' || i, 2, '" +
            url + "', " + host + ", " + host + ", '{}' from generate_series(1, " + std::to_string(count) +
            ") i;"
            " insert into sluice.work (event_id, wndw_config_nm, pool_nm, host_nm, endpoint_nm, target_cd,"
            " sched_ts, weight_ct, due_ts) select 'e' || i, 'a', 'a', " +
            host + ", " + host +
            ", 2, '2025-06-01 12:00:00Z'::timestamptz + i * interval '1 microsecond' * 1000, 1,"
            " '2025-06-01 12:00:00Z'::timestamptz + i * interval '1 microsecond' * 1000"
            " from generate_series(1, " +
            std::to_string(count) + ") i");
    }
    void let_all_come_due() { set_server_clock(*sql_, kNoon + 1min); }

    static Taken take(WorkNode& node, const Lane& lane, const WorkStore::Judge& judge,
                      std::size_t most = 100) {
        auto taken = node->take(lane, most, judge);
        EXPECT_TRUE(taken) << (taken ? "" : taken.error().what);
        return taken ? std::move(*taken) : Taken{};
    }
    static WorkStore::Judge claiming_under(Fence fence) {
        return [fence](const DueWork&) { return WorkVerdict{ClaimIt{20s, fence}}; };
    }
    static WorkStore::Judge claiming_up_to_the_cap() {
        return [](const DueWork& due) -> WorkVerdict {
            if (due.sends.sent >= due.sends.cap) {
                return LeaveIt{};
            }
            return ClaimIt{20s};
        };
    }
    static std::vector<std::string> ids(const std::vector<ClaimedWork>& claimed) {
        std::vector<std::string> result;
        for (const ClaimedWork& one : claimed) {
            result.push_back(one.work.event_id.text());
        }
        return result;
    }
    static std::string last_error(WorkNode& node, std::string_view id) {
        return node->find(event(id)).value().value().audit.back().error;
    }

private:
    std::unique_ptr<postgres::Connection> sql_;
};

TEST_F(PostgresWork, TwoNodesTakeEachWorkOnceAndLoseNone) {
    WorkNode one{dsn()};
    WorkNode other{dsn()};
    run("update rl_event_wndw_config set wndw_max_event_ct = 100000");
    bring(3000);
    let_all_come_due();
    std::map<std::string, int> claims;
    std::mutex mutex;

    const auto work = [&](WorkNode& node) {
        for (std::size_t got = 1; got > 0;) {
            const Taken taken = take(node, kDue, claiming(), 64);
            got = taken.claimed.size() + (taken.next ? 1 : 0);
            const std::lock_guard lock{mutex};
            for (const ClaimedWork& claimed : taken.claimed) {
                ++claims[claimed.work.event_id.text()];
            }
        }
    };
    {
        std::jthread first{[&] { work(one); }};
        std::jthread second{[&] { work(other); }};
    }

    EXPECT_THAT(claims, SizeIs(3000));
    EXPECT_TRUE(std::ranges::all_of(claims, [](const auto& claim) { return claim.second == 1; }));
    EXPECT_EQ(run("select sum(sent_ct) from sluice.work_sent"), "3000");
}

TEST_F(PostgresWork, NoWindowIsAboveItsCapWhoeverTakes) {
    WorkNode one{dsn()};
    WorkNode other{dsn()};
    bring(1000);
    let_all_come_due();
    {
        std::vector<std::jthread> nodes;
        for (WorkNode* node : {&one, &other}) {
            nodes.emplace_back([node] {
                for (int i = 0; i < 20; ++i) {
                    take(*node, kDue, claiming_up_to_the_cap(), 7);
                }
            });
        }
    }

    EXPECT_EQ(run("select sum(sent_ct) from sluice.work_sent"), "100");
    EXPECT_EQ(run("select count(*) from sluice.work where lane_cd = 7"), "100");
}

TEST_F(PostgresWork, PassesOverWhatAnotherHoldsAndLooksAgainSoon) {
    WorkNode node{dsn()};
    bring(3);
    let_all_come_due();
    const auto holder = connect();
    ask(*holder, "begin; select 1 from sluice.work where event_id = 'e1' for update");

    const Taken taken = take(node, kDue, claiming());

    EXPECT_THAT(ids(taken.claimed), ElementsAre("e2", "e3"));
    ASSERT_TRUE(taken.next);
    EXPECT_GT(*taken.next, taken.now);
    EXPECT_LE(*taken.next, taken.now + 1s);
    ask(*holder, "rollback");
    EXPECT_THAT(ids(take(node, kDue, claiming()).claimed), ElementsAre("e1"));
}

// It was cut off, or froze, between the two round trips.
TEST_F(PostgresWork, ANodeThatFallsSilentWithinATakeKeepsOthersForSecondsOnly) {
    WorkNode frozen{dsn()};
    WorkNode other{dsn()};
    bring(2);
    let_all_come_due();
    std::atomic<bool> judging = false;
    std::atomic<bool> thaw = false;
    Result<Taken, StoreError> late = Taken{};
    std::jthread stuck{[&] {
        late = frozen->take(kDue, 1, [&](const DueWork&) {
            judging = true;
            judging.notify_all();
            thaw.wait(false);
            return WorkVerdict{ClaimIt{20s}};
        });
    }};
    judging.wait(false);
    const auto begun = std::chrono::steady_clock::now();

    // Another work of the same pool, whose count the frozen node holds.
    const Taken taken = take(other, kDue, claiming());
    const auto held = other->hold(kHost, {});
    const auto waited = std::chrono::steady_clock::now() - begun;
    thaw = true;
    thaw.notify_all();
    stuck.join();

    EXPECT_THAT(ids(taken.claimed), ElementsAre("e2"));
    EXPECT_TRUE(held);
    EXPECT_LT(waited, 10s);
    EXPECT_FALSE(late);
    EXPECT_THAT(ids(take(other, kDue, claiming()).claimed), ElementsAre("e1"));
}

TEST_F(PostgresWork, ReadsWhereWorkGoesThatCameBySql) {
    WorkNode node{dsn()};
    bring(1, "null");
    let_all_come_due();
    Route seen;

    const Taken taken = take(node, kDue, [&](const DueWork& due) {
        seen = due.work.route;
        return WorkVerdict{ClaimIt{20s}};
    });

    const Route expected{"h1", "https://h1/hook"};
    EXPECT_EQ(seen, expected);
    ASSERT_THAT(taken.claimed, SizeIs(1));
    EXPECT_EQ(taken.claimed[0].order.route, expected);
    EXPECT_EQ(node->find(event("e1")).value()->work.route, expected);
}

TEST_F(PostgresWork, WhatCannotBeHandledDiesAloneWithTheReason) {
    WorkNode node{dsn()};
    bring(6);
    run("update sluice.work set host_nm = null where event_id in ('e1', 'e5');"
        " update sluice.work_order set address_tx = 'https://forbidden/' where event_id = 'e1';"
        " update sluice.work set target_cd = 77 where event_id = 'e2';"
        " update sluice.work set wndw_config_nm = 'gone' where event_id = 'e3';"
        " update sluice.work set pool_nm = 'gone' where event_id = 'e4';"
        " delete from sluice.work_order where event_id = 'e5'");
    let_all_come_due();

    const Taken taken = take(node, kDue, claiming());

    EXPECT_THAT(ids(taken.claimed), ElementsAre("e6"));
    EXPECT_EQ(taken.next, std::nullopt);
    EXPECT_EQ(run("select count(*) from sluice.work where state_cd = 5 and lane_cd = 8"), "5");
    EXPECT_THAT(last_error(node, "e1"), HasSubstr("not allowed"));
    EXPECT_THAT(last_error(node, "e3"), HasSubstr("config does not exist"));
    EXPECT_THAT(last_error(node, "e4"), HasSubstr("pool does not exist"));
    EXPECT_EQ(run("select error_tx from sluice.dispatch_audit where event_id = 'e2'"), "Its row is damaged.");
    EXPECT_EQ(run("select error_tx from sluice.dispatch_audit where event_id = 'e5'"), "It has no order.");
    EXPECT_THAT(node->list({.state = WorkState::Dead}).value().works, SizeIs(4));
}

// Once its receiver was allowed somebody replays it.
TEST_F(PostgresWork, RoutesWhatIsReplayedAgain) {
    WorkNode node{dsn()};
    bring(1, "null", "https://forbidden/");
    let_all_come_due();
    take(node, kDue, claiming());
    run("update sluice.work_order set address_tx = 'https://allowed/'");

    ASSERT_EQ(node->replay({.event_ids = {event("e1")}}, "ops").value(), 1U);

    const Taken taken = take(node, kDue, claiming());
    ASSERT_THAT(taken.claimed, SizeIs(1));
    EXPECT_EQ(taken.claimed[0].work.route.endpoint, "https://allowed/");
}

TEST_F(PostgresWork, OneNodeKeepsTheGatesUntilItsTermEnds) {
    WorkNode one{dsn()};
    WorkNode other{dsn()};

    const auto first = one->keep("one").value();

    ASSERT_TRUE(first);
    EXPECT_EQ(other->keep("other").value(), std::nullopt);
    EXPECT_EQ(one->keep("one").value()->fence, first->fence);
    set_server_clock(*connect(), kNoon + 500ms + first->lasts);
    const auto second = other->keep("other").value();
    ASSERT_TRUE(second);
    EXPECT_GT(second->fence, first->fence);
    EXPECT_EQ(one->keep("one").value(), std::nullopt);
}

TEST_F(PostgresWork, AKeeperThatLetsGoIsFollowedAtOnce) {
    WorkNode one{dsn()};
    WorkNode other{dsn()};
    const Fence first = one->keep("one").value().value().fence;

    one->let_go(first + 7);
    EXPECT_EQ(other->keep("other").value(), std::nullopt);
    one->let_go(first);

    const auto second = other->keep("other").value();
    ASSERT_TRUE(second);
    EXPECT_GT(second->fence, first);
    EXPECT_FALSE(one->note_permits(first, {}).value());
}

TEST_F(PostgresWork, AClockThatWasSetBackKeepsNobodyOut) {
    WorkNode one{dsn()};
    WorkNode other{dsn()};
    ASSERT_TRUE(one->keep("one").value());

    set_server_clock(*connect(), kNoon - 1h);

    EXPECT_TRUE(other->keep("other").value());
}

TEST_F(PostgresWork, ATakeUnderAnOldFenceDoesNothing) {
    WorkNode one{dsn()};
    WorkNode other{dsn()};
    bring(2);
    const Fence old = one->keep("one").value().value().fence;
    let_all_come_due();
    const Fence newer = other->keep("other").value().value().fence;

    const Taken refused = take(one, kDue, claiming_under(old));

    EXPECT_TRUE(refused.fenced);
    EXPECT_THAT(refused.claimed, IsEmpty());
    EXPECT_EQ(run("select count(*) from sluice.work where lane_cd = 1"), "2");
    EXPECT_EQ(run("select count(*) from sluice.work_sent"), "0");
    EXPECT_THAT(take(other, kDue, claiming_under(newer)).claimed, SizeIs(2));
}

// Else it would not know of a claim that is about to be committed.
TEST_F(PostgresWork, ANewKeeperWaitsForClaimsThatAreBeingStored) {
    WorkNode one{dsn()};
    WorkNode other{dsn()};
    const Fence fence = one->keep("one").value().value().fence;
    let_all_come_due();
    const auto storing = connect();
    ask(*storing, "begin; select sluice.hold_fence(" + std::to_string(fence) + ")");
    std::atomic<bool> kept = false;

    std::jthread successor{[&] {
        EXPECT_TRUE(other->keep("other").value());
        kept = true;
    }};
    const auto asking = connect();
    while (ask(*asking, "select count(*) from pg_locks where not granted") == "0") {
        std::this_thread::yield();
    }
    EXPECT_FALSE(kept);
    ask(*storing, "commit");
    successor.join();

    EXPECT_TRUE(kept);
}

TEST_F(PostgresWork, KeepsPermitsOfTheKeeperUntilTheyAreOver) {
    WorkNode one{dsn()};
    const Fence fence = one->keep("one").value().value().fence;
    const std::vector<OutsidePermit> permits{{"p1", kHost, 5s}, {"p2", {SubjectKind::Pool, "a"}, 1s}};

    EXPECT_FALSE(one->note_permits(fence + 1, permits).value());
    EXPECT_THAT(one->outside_permits().value(), IsEmpty());
    EXPECT_TRUE(one->note_permits(fence, permits).value());

    const auto noted = one->outside_permits().value();
    ASSERT_THAT(noted, SizeIs(2));
    EXPECT_EQ(noted[0].id, "p1");
    EXPECT_EQ(noted[0].gate, kHost);
    EXPECT_EQ(noted[0].left, 5s);
    set_server_clock(*connect(), kNoon + 3s);
    EXPECT_THAT(one->outside_permits().value(), SizeIs(1));
    ASSERT_TRUE(one->note_permits(fence, {}).value());
    EXPECT_EQ(run("select count(*) from sluice.dispatch_permit"), "1");
    const std::vector<std::string> gone{"p1", "unknown"};
    ASSERT_TRUE(one->drop_permits(gone));
    EXPECT_THAT(one->outside_permits().value(), IsEmpty());
}

TEST_F(PostgresWork, AHoldIsInForceForEveryNodeOnceItWasAnswered) {
    WorkNode one{dsn()};
    WorkNode other{dsn()};
    bring(1);
    let_all_come_due();
    ASSERT_THAT(other->terms().value()->holds, IsEmpty());

    ASSERT_TRUE(one->hold(kHost, {Hold::Why::Paused, {}, "ops"}));

    take(other, kDue, [](const DueWork& due) {
        EXPECT_TRUE(due.terms.holds.contains(kHost));
        return WorkVerdict{LeaveIt{}};
    });
    EXPECT_THAT(other.hear(), ElementsAre(IsEmpty()));
}

TEST_F(PostgresWork, AnEndpointIsParkedOnceHoweverManySayThatItIsGone) {
    WorkNode node{dsn()};
    bring(2);
    let_all_come_due();
    take(node, kDue, claiming());
    const std::vector<Settlement> settlements{
        {event("e1"), 1, Settlement::Parked{"node"}, attempt_line(1, 410)},
        {event("e2"), 1, Settlement::Parked{"node"}, attempt_line(1, 410)}};

    ASSERT_TRUE(node->settle(settlements));

    EXPECT_THAT(node->terms().value()->holds, SizeIs(1));
    EXPECT_EQ(run("select count(*) from sluice.dispatch_audit where subject_cd = 4"), "1");
    EXPECT_EQ(run("select count(*) from sluice.work where state_cd = 6 and lane_cd = 5"), "2");
}

TEST_F(PostgresWork, StoresWhatReceiversAnswerWhateverItsBytes) {
    WorkNode node{dsn()};
    bring(1);
    let_all_come_due();
    take(node, kDue, claiming());
    Settlement settlement{event("e1"), 1, Settlement::Done{}, attempt_line(1)};
    settlement.line.excerpt = std::string{"a\0b\xC3", 4};

    ASSERT_TRUE(node->settle({&settlement, 1}));

    EXPECT_EQ(node->find(event("e1")).value()->audit.at(0).excerpt, "a?b?");
}

TEST_F(PostgresWork, TellsOthersOfLanesAndOfWorkButNotItself) {
    WorkNode one{dsn()};
    WorkNode other{dsn()};
    bring(3);
    let_all_come_due();
    const Lane aside = lane(LaneKind::Endpoint, "https://h1/a b");

    take(one, kDue, putting_aside(aside), 1);

    EXPECT_THAT(other.hear(), ElementsAre(ElementsAre(aside)));
    EXPECT_THAT(one.hear(), IsEmpty());
    take(one, kDue, claiming(), 1);
    take(one, kDue, giving_up(WorkState::Dead), 1);
    EXPECT_THAT(other.hear(), ElementsAre(IsEmpty()));
    EXPECT_THAT(other.heard(), SizeIs(2)) << "A claim is no news.";
}

TEST_F(PostgresWork, NamesNoMoreLanesThanAreWorthIt) {
    WorkNode one{dsn()};
    WorkNode other{dsn()};
    bring(100);
    let_all_come_due();
    take(one, kDue, [](const DueWork& due) {
        return WorkVerdict{SetAside{lane(LaneKind::Endpoint, "https://" + due.work.event_id.text())}};
    });

    EXPECT_THAT(other.hear(), IsEmpty());
    EXPECT_THAT(other.heard(), SizeIs(1));
    std::vector<Lane> told;
    other->on_news([&](const WorkTidings& tidings) { told = tidings.filled; });
    const auto listening = connect();
    EXPECT_TRUE(other->look_around(*listening));
    EXPECT_THAT(told, SizeIs(100));
}

TEST_F(PostgresWork, LooksAtEverythingOnceItListensAgain) {
    WorkNode node{dsn()};
    bring(1);
    let_all_come_due();
    const Lane aside = lane(LaneKind::Pool, "a");
    take(node, kDue, putting_aside(aside));
    std::vector<std::vector<Lane>> told;
    node->on_news([&](const WorkTidings& tidings) { told.push_back(tidings.filled); });

    node->forget_all();
    const auto listening = connect();
    EXPECT_TRUE(node->look_around(*listening));

    EXPECT_THAT(told, ElementsAre(IsEmpty(), ElementsAre(aside)));
}

// The start that a node remembers must hide nothing that others put before it.
TEST_F(PostgresWork, FindsWhatAnotherNodePutBeforeWhereItsLastTakeEnded) {
    WorkNode one{dsn()};
    WorkNode other{dsn()};
    bring(2);
    let_all_come_due();
    take(one, kDue, claiming());
    ASSERT_THAT(take(one, kDue, claiming()).claimed, IsEmpty());
    run("update sluice.work set state_cd = 5, lane_cd = 8, lane_nm = ''");
    run("update sluice.work set state_cd = 1, lane_cd = 1, due_ts = '2025-06-01 11:00:00Z' where event_id = "
        "'e2'");

    one->heed("work 1748775600000 ");

    EXPECT_THAT(ids(take(one, kDue, claiming()).claimed), ElementsAre("e2"));
}

// Blocks that the server looked at for ten works of a lane, as it explains it.
long blocks_for_ten(const std::string& dsn) {
    const auto connection = test::connect(dsn);
    const std::string plan = ask(*connection,
                                 "begin; explain (analyze, buffers, format json) select * from"
                                 " sluice.lock_due(1::smallint, '', 0, 10)");
    const std::string hit = "\"Shared Hit Blocks\": ";
    const std::size_t at = plan.find(hit);
    return at == std::string::npos ? -1 : std::stol(plan.substr(at + hit.size()));
}

TEST_F(PostgresWork, ATakeReadsNoMoreWhateverElseWaits) {
    WorkNode node{dsn()};
    bring(20);
    run("analyze sluice.work");
    let_all_come_due();
    const long among_few = blocks_for_ten(dsn());

    run("insert into sluice.work select 'more' || i, w.wndw_config_nm, w.pool_nm, w.host_nm, w.endpoint_nm,"
        " w.target_cd, w.sched_ts, 1, null, 1, 1, '', w.due_ts, 0, 0, 0 from sluice.work w,"
        " generate_series(1, 2000) i where w.event_id = 'e20'");
    const long among_many = blocks_for_ten(dsn());

    EXPECT_GT(among_few, 0);
    EXPECT_LT(among_many, among_few + 100);
}

TEST_F(PostgresWork, ListsPagesHoweverRareThatWhichFits) {
    WorkNode node{dsn()};
    bring(12000);
    run("update sluice.work set host_nm = 'rare' where event_id = 'e7000'");
    std::vector<std::string> found;
    std::size_t pages = 0;

    WorkFilter filter{.host = "rare", .limit = 10};
    do {
        const WorkPage page = node->list(filter).value();
        for (const Work& work : page.works) {
            found.push_back(work.event_id.text());
        }
        filter.after = page.after;
        ++pages;
    } while (!filter.after.empty());

    EXPECT_THAT(found, ElementsAre("e7000"));
    EXPECT_EQ(pages, 3U);
}

}  // namespace
}  // namespace sluice::test
