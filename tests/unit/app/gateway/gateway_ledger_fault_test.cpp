// The tables below a ledger fail, each call of each kind in turn: what it counts is never below what it has
// granted, and what it has acknowledged is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/gateway/gateway_ledger.hpp"
#include "store/memory/memory_gateway_tables.hpp"
#include "support/gateway_words.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"

namespace sluice::test {
namespace {

using Call = FaultyGatewayTables::Call;
using Truth = FaultyGatewayTables::Truth;

struct Stage {
    HandClock clock{kNoon};
    RecordingLog log;
    std::unique_ptr<FaultyGatewayTables> owned =
        std::make_unique<FaultyGatewayTables>(make_memory_gateway_tables());
    FaultyGatewayTables& tables = *owned;
    std::unique_ptr<GatewayStore> store = make_gateway_ledger(std::move(owned), {clock, log});
};

// What the store has told in the history below.
struct Told {
    std::int32_t published = 0;  // Places that a publication was made for, or may be.
    std::vector<MessageId> accepted{};
};

// One user sends, retries, fails to publish and empties the outbox, while the store fails once.
Told live_through_a_day(Stage& stage) {
    Told told;
    std::size_t drawn = 0;
    const auto send = [&](const MessageDraft& draft, Handover handover) {
        const SendRequest request{draft, message_id(++drawn)};
        stage.clock.advance(250ms);  // Long enough for the store to recover.
        return stage.store->reserve({&request, 1}, handover).at(0);
    };
    for (int round = 0; round < 6; ++round) {
        const MessageDraft draft = named("r" + std::to_string(round));
        if (const auto reply = send(draft, Handover::Outbox);
            reply && reply->id && reply->verdict != Reserved::Verdict::Denied) {
            ++told.published;
            told.accepted.push_back(*reply->id);
        }
        const auto reply = send(named("p" + std::to_string(round)), Handover::Publisher);
        if (reply && reply->verdict == Reserved::Verdict::Granted) {
            const bool arrives = round % 2 == 0;
            told.published += arrives ? 1 : 0;
            const MessageSettlement one{*reply->id, kAnn, reply->window_start,
                                        arrives ? Published::Acknowledged : Published::NotPublished};
            stage.clock.advance(250ms);
            static_cast<void>(stage.store->settle({&one, 1}));
        }
        stage.clock.advance(250ms);
        if (const auto waiting = stage.store->outbox().waiting(1); waiting && !waiting->empty()) {
            const OutboxClosing closing{waiting->front().number, waiting->front().message.id,
                                        MessageState::Sent};
            static_cast<void>(stage.store->outbox().close({&closing, 1}));
        }
    }
    return told;
}

void expect_right(Stage& stage, const Told& told) {
    stage.tables.heal();
    stage.clock.advance(1s);
    ASSERT_TRUE(stage.store->available());
    const auto user = stage.store->find_user(kAnn).value().value();
    EXPECT_GE(user.count, told.published);
    EXPECT_LE(user.count, user.terms.rate_limit);
    const auto waiting = stage.store->outbox().waiting(100).value();
    for (const MessageId& id : told.accepted) {
        const auto story = stage.store->find_message(id).value();
        ASSERT_TRUE(story) << id.text();
        const bool waits =
            std::ranges::any_of(waiting, [&](const WaitingMessage& one) { return one.message.id == id; });
        EXPECT_EQ(waits, story->state == MessageState::Queued) << id.text();
    }
}

TEST(GatewayLedgerFault, NeverCountsLessThanItGrantedWhicheverCallFails) {
    for (std::size_t kind = 0; kind < FaultyGatewayTables::kCalls; ++kind) {
        for (const Truth truth : {Truth::NotDone, Truth::DoneAllTheSame}) {
            for (std::size_t nth = 1; nth <= 20; ++nth) {
                SCOPED_TRACE("call " + std::to_string(nth) + " of kind " + std::to_string(kind));
                Stage stage;
                ASSERT_TRUE(stage.store->put_user(kAnn, {1'000, 60}));
                stage.tables.arm(Call{kind}, nth, truth);

                const Told told = live_through_a_day(stage);

                expect_right(stage, told);
            }
        }
    }
}

TEST(GatewayLedgerFault, RefusesEverythingUntilTheTablesWereOpenedAgain) {
    Stage stage;
    ASSERT_TRUE(stage.store->put_user(kAnn, {10, 5}));
    stage.tables.arm(Call::Commit, 1);
    EXPECT_FALSE(stage.store->put_user(kAnn, {20, 5}));

    EXPECT_FALSE(stage.store->available());
    EXPECT_FALSE(stage.store->find_user(kAnn));
    EXPECT_FALSE(stage.store->outbox().waiting(1));
    stage.tables.arm(Call::Reopen, 1);
    stage.clock.advance(200ms);
    EXPECT_FALSE(stage.store->available());
    stage.clock.advance(200ms);

    EXPECT_TRUE(stage.store->available());
    EXPECT_EQ(stage.store->find_user(kAnn).value()->terms.rate_limit, 10);
    EXPECT_TRUE(stage.log.has("INFO Gateway - Store recovered, sending goes on"));
}

TEST(GatewayLedgerFault, RecoversAlsoWhenTheClockStepsBack) {
    Stage stage;
    stage.tables.arm(Call::Commit, 1);
    EXPECT_FALSE(stage.store->put_user(kAnn, {20, 5}));

    stage.clock.advance(-1h);

    EXPECT_TRUE(stage.store->available());
}

TEST(GatewayLedgerFault, StillKnowsRetriesWhenTheDiskIsNearlyFull) {
    Stage stage;
    ASSERT_TRUE(stage.store->put_user(kAnn, {10, 5}));
    const MessageDraft draft = named("r");
    const SendRequest request{draft, message_id(1)};
    ASSERT_TRUE(stage.store->reserve({&request, 1}, Handover::Outbox).at(0));
    stage.tables.set_room(StoreRoom::Scarce);
    const MessageDraft other = message(kAnn);
    const std::array both{request, SendRequest{other, message_id(2)}};

    const auto replies = stage.store->reserve(both, Handover::Outbox);

    EXPECT_EQ(replies[0]->verdict, Reserved::Verdict::Accepted);
    ASSERT_FALSE(replies[1]);
    EXPECT_EQ(replies[1].error().kind, GatewayFault::Kind::Full);
    EXPECT_EQ(stage.store->put_user(kBob, {1, 1}).error().kind, GatewayFault::Kind::Full);
}

}  // namespace
}  // namespace sluice::test
