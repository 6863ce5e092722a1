#include <gmock/gmock.h>

#include "support/gateway_words.hpp"
#include "support/postgres_gateway.hpp"

// The outbox in PostgreSQL, which the senders of several nodes share.
namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class PostgresOutbox : public PostgresTest {
protected:
    PostgresOutbox() : PostgresTest{Furnished::WithSlots} {}

    void SetUp() override {
        PostgresTest::SetUp();
        if (!IsSkipped()) {
            session_ = connect();
            set_server_clock(*session_, kNoon);
        }
    }

    // Puts messages of these texts into the outbox.
    static void put(GatewayStore& store, const std::vector<std::string>& texts) {
        ASSERT_TRUE(store.put_user(kAnn, {1000, 5}));
        std::vector<MessageDraft> drafts;
        for (const std::string& text : texts) {
            drafts.push_back(message(kAnn, text));
        }
        std::vector<SendRequest> requests;
        for (const MessageDraft& draft : drafts) {
            requests.push_back({draft, message_id("id " + draft.text.substr(0, 9))});
        }
        for (const ReserveReply& reply : store.reserve(requests, Handover::Outbox)) {
            ASSERT_TRUE(reply) << reply.error().what;
            ASSERT_EQ(reply->verdict, Reserved::Verdict::Granted);
        }
    }

    static std::vector<std::string> texts(const std::vector<WaitingMessage>& waiting) {
        std::vector<std::string> all;
        for (const WaitingMessage& one : waiting) {
            all.push_back(one.message.text);
        }
        return all;
    }
    static std::vector<std::string> waiting(GatewayStore& store, std::size_t most = 100) {
        return texts(store.outbox().waiting(most).value());
    }

    std::unique_ptr<postgres::Connection> session_;
};

TEST_F(PostgresOutbox, GivesEachMessageToOneOfTwoSendersAndTheSameOnesAgain) {
    PostgresGatewayOn first{dsn()};
    PostgresGatewayOn second{dsn()};
    put(*first, {"a", "b", "c", "d"});

    EXPECT_THAT(waiting(*first, 2), ElementsAre("a", "b"));
    EXPECT_THAT(waiting(*second, 3), ElementsAre("c", "d"));
    EXPECT_THAT(waiting(*first), ElementsAre("a", "b"));
    EXPECT_THAT(waiting(*second, 1), ElementsAre("c"));
}

TEST_F(PostgresOutbox, GivesWhatASenderHasNotClosedInTimeToAnother) {
    PostgresGatewayOn first{dsn()};
    PostgresGatewayOn second{dsn()};
    put(*first, {"a", "b"});
    const auto claimed = first->outbox().waiting(1).value();
    set_server_clock(*session_, kNoon + 30s - 1ms);
    EXPECT_THAT(waiting(*second), ElementsAre("b"));

    set_server_clock(*session_, kNoon + 30s);

    const auto taken = second->outbox().waiting(100).value();
    EXPECT_THAT(texts(taken), ElementsAre("a", "b"));
    EXPECT_THAT(waiting(*first), IsEmpty());
    // Both have sent it. Who closes it first says what became of it.
    const OutboxClosing expired{taken[0].number, taken[0].message.id, MessageState::Expired};
    const OutboxClosing sent{claimed[0].number, claimed[0].message.id, MessageState::Sent};
    ASSERT_TRUE(second->outbox().close({&expired, 1}));
    ASSERT_TRUE(first->outbox().close({&sent, 1}));
    EXPECT_EQ(first->find_message(sent.id).value()->state, MessageState::Expired);
}

TEST_F(PostgresOutbox, WaitsForNobodyWhoHoldsAMessage) {
    PostgresGatewayOn store{dsn(), PostgresGatewayOn::hasty()};
    put(*store, {"a", "b", "c"});
    const auto found = store->outbox().waiting(100).value();
    ask(*session_, "begin");
    ask(*session_, "select 1 from sluice.gateway_message where message_id = 'id b' for update");

    std::vector<OutboxClosing> closings;
    for (const WaitingMessage& one : found) {
        closings.push_back({one.number, one.message.id, MessageState::Sent});
    }
    EXPECT_FALSE(store->outbox().close(closings));

    EXPECT_THAT(waiting(*store), ElementsAre("b"));
    ask(*session_, "commit");
    EXPECT_TRUE(store->outbox().close(closings));
    EXPECT_THAT(waiting(*store), IsEmpty());
    EXPECT_EQ(store->find_message(message_id("id b")).value()->state, MessageState::Sent);
}

TEST_F(PostgresOutbox, KeepsEveryByteOfATextAndWhomItIsFor) {
    PostgresGatewayOn store{dsn()};
    ASSERT_TRUE(store->put_user(kAnn, {5, 5}));
    MessageDraft draft = message(kAnn, std::string{"a\0b\\\"{},'\xC3\xA9\xFF\n", 13});
    draft.to = Party::make("+47 \\ \"ann\"");
    draft.validity = 90s;
    const SendRequest request{draft, message_id("m")};

    ASSERT_TRUE(store->reserve({&request, 1}, Handover::Outbox).front());

    const auto found = store->outbox().waiting(10).value();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].message.text, draft.text);
    EXPECT_EQ(found[0].message.to, draft.to);
    EXPECT_EQ(found[0].message.from, std::nullopt);
    EXPECT_EQ(found[0].message.user, kAnn);
    EXPECT_EQ(found[0].message.expires, kNoon + 90s);
    EXPECT_EQ(store->outbox().time(), kNoon);
}

TEST_F(PostgresOutbox, ARetryAfterTheHandoverHasChangedWaitsOnce) {
    PostgresGatewayOn store{dsn()};
    ASSERT_TRUE(store->put_user(kAnn, {5, 5}));
    const MessageDraft draft = named("r");
    const SendRequest request{draft, message_id("m")};
    ASSERT_EQ(store->reserve({&request, 1}, Handover::Publisher).front()->verdict,
              Reserved::Verdict::Granted);

    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(store->reserve({&request, 1}, Handover::Outbox).front()->verdict,
                  Reserved::Verdict::Accepted);
    }

    EXPECT_THAT(waiting(*store), SizeIs(1));
    EXPECT_EQ(store->find_user(kAnn).value()->count, 1);
}

}  // namespace
}  // namespace sluice::test
