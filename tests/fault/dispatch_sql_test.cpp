// An application orders calls in its own transactions, by SQL; two daemons make them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/dispatch_site.hpp"

namespace sluice::test {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

class DispatchBySql : public testing::Test {
protected:
    void SetUp() override {
        if (postgres_address().empty()) {
            GTEST_SKIP() << "there is no PostgreSQL; tools/services starts one";
        }
        site_ = std::make_unique<DispatchSite>(Kept::OnPostgres);
        site_->set_config("");
        psql_ = connect(site_->dsn());
        ask(*psql_, "create table orders (id text primary key)");
    }

    // One order with its slot and its call, in a transaction that ends with `end`.
    void order(const std::string& id, const std::string& target, const std::string& end) {
        ask(*psql_, "begin; insert into orders values ('" + id + "'); select from sluice.assign_slot('" + id +
                        "', 'default', '2026-01-01 00:00:00Z', target => '" + target +
                        "', payload => '{\"amount\": 12.50}'); " + end);
    }
    void order_call(const std::string& id, const std::string& url, const std::string& end) {
        order(id, R"({"type":"webhook","url":")" + url + R"("})", end);
    }

    std::unique_ptr<DispatchSite> site_;
    std::unique_ptr<postgres::Connection> psql_;
};

TEST_F(DispatchBySql, CallsOnceForAnOrderThatCommitsAndNeverForOneThatRollsBack) {
    const WebhookReceiver receiver;

    order_call("undone", receiver.url("/pay"), "rollback");
    order_call("done", receiver.url("/pay"), "commit");
    ASSERT_TRUE(receiver.wait_for(1, seconds{20}));
    // Whatever was left of the first would have been due before this one.
    order_call("done-later", receiver.url("/pay"), "commit");
    ASSERT_TRUE(receiver.wait_for(2, seconds{20}));

    std::vector<std::string> arrived;
    for (const Arrival& arrival : receiver.arrivals()) {
        arrived.push_back(arrival.event());
        EXPECT_EQ(arrival.body, R"({"amount": 12.50})");
    }
    EXPECT_THAT(arrived, ElementsAre("done", "done-later"));
    EXPECT_EQ(ask(*psql_, "select string_agg(id, ' ' order by id) from orders"), "done done-later");
    EXPECT_EQ(ask(*psql_, "select count(*) from sluice.work"), "2");
}

TEST_F(DispatchBySql, AddsNoSecondCallWhenAnOrderIsRepeated) {
    const WebhookReceiver receiver;
    order_call("once", receiver.url("/pay"), "commit");
    ASSERT_TRUE(receiver.wait_for(1, seconds{20}));

    ask(*psql_,
        "select from sluice.assign_slot('once', 'default', '2026-01-01 00:00:00Z', target => "
        "'{\"type\":\"webhook\",\"url\":\"" +
            receiver.url("/other") + "\"}')");
    order_call("another", receiver.url("/pay"), "commit");

    ASSERT_TRUE(receiver.wait_for(2, seconds{20}));
    EXPECT_EQ(receiver.arrivals().back().event(), "another");
    EXPECT_EQ(receiver.arrivals().size(), 2U);
}

// One poisoned order among good ones.
TEST_F(DispatchBySql, AnOrderThatNobodyMayCarryIsDeadAndKeepsNoOther) {
    const WebhookReceiver receiver;

    order_call("bad", "http://169.254.169.254/latest", "commit");
    order_call("good", receiver.url("/pay"), "commit");

    ASSERT_TRUE(receiver.wait_for(1, seconds{20}));
    EXPECT_EQ(receiver.arrivals().front().event(), "good");
    EXPECT_THAT(site_->story("bad"), HasSubstr(R"("state":"dead")"));
}

}  // namespace
}  // namespace sluice::test
