#include "app/gateway/outbox_sender.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/gateway/gateway_ledger.hpp"
#include "store/memory/memory_gateway_tables.hpp"
#include "support/gateway_words.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/virtual_runtime.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Call = FaultyGatewayTables::Call;

class OutboxSenderTest : public testing::Test {
protected:
    OutboxSenderTest() { EXPECT_TRUE(store_->put_user(kAnn, {100'000, 5})); }
    ~OutboxSenderTest() override { sender_.stop(); }

    MessageId put(MessageDraft draft) {
        const SendRequest request{draft, message_id(++drawn_)};
        return *store_->reserve({&request, 1}, Handover::Outbox).at(0).value().id;
    }
    void put_and_nudge(MessageDraft draft) {
        put(std::move(draft));
        sender_.nudge();
    }
    void let_run(std::chrono::nanoseconds time = 1ms) { runtime_.sleep(time); }
    std::vector<std::string> sent() const {
        std::vector<std::string> texts;
        for (const OutgoingMessage& message : outlet_.sent()) {
            texts.push_back(message.text);
        }
        return texts;
    }
    std::size_t waiting() { return store_->outbox().waiting(1'000).value().size(); }

    HandMomentClock moments_{kNoon};
    VirtualRuntime runtime_{1, moments_};
    HandClock clock_{kNoon};
    RecordingLog log_;
    CountingGatewayMetrics metrics_;
    RecordingOutlet outlet_;
    std::unique_ptr<FaultyGatewayTables> owned_ =
        std::make_unique<FaultyGatewayTables>(make_memory_gateway_tables());
    FaultyGatewayTables& tables_ = *owned_;
    const std::unique_ptr<GatewayStore> store_ = make_gateway_ledger(std::move(owned_), {clock_, log_});
    std::size_t drawn_ = 0;
    OutboxSender sender_{{store_->outbox(), outlet_, metrics_, log_, runtime_}, 1};
};

TEST_F(OutboxSenderTest, SendsWhatWaitsInOrderAndClosesIt) {
    put(message(kAnn, "one"));
    put_and_nudge(message(kAnn, "two"));
    let_run();

    EXPECT_THAT(sent(), ElementsAre("one", "two"));
    EXPECT_EQ(waiting(), 0U);
    EXPECT_EQ(store_->find_message(message_id(1)).value()->state, MessageState::Sent);
    EXPECT_EQ(metrics_.of("sent"), 2U);
}

TEST_F(OutboxSenderTest, SendsMoreThanItTakesAtATime) {
    for (std::size_t i = 0; i <= 2 * OutboxSender::kBatch; ++i) {
        put(message(kAnn));
    }
    sender_.nudge();
    let_run();

    EXPECT_EQ(sent().size(), 2 * OutboxSender::kBatch + 1);
    EXPECT_EQ(waiting(), 0U);
}

TEST_F(OutboxSenderTest, NeverSendsWhatIsOlderThanItsValidity) {
    put(valid_for(10s, message(kAnn, "short")));
    put(valid_for(11s, message(kAnn, "long")));
    clock_.advance(10s);
    sender_.nudge();
    let_run();

    EXPECT_THAT(sent(), ElementsAre("long"));
    EXPECT_EQ(store_->find_message(message_id(1)).value()->state, MessageState::Expired);
    EXPECT_EQ(metrics_.of("expired"), 1U);
}

TEST_F(OutboxSenderTest, RestsWhileNothingWaits) {
    put_and_nudge(message(kAnn));
    let_run();
    tables_.arm(Call::Waiting, 1);

    let_run(1h);

    EXPECT_EQ(metrics_.of("sender failed"), 0U);
}

TEST_F(OutboxSenderTest, TriesAgainWhatDidNotLeave) {
    outlet_.fail(2);
    put(message(kAnn, "one"));
    put_and_nudge(message(kAnn, "two"));
    let_run();
    EXPECT_THAT(sent(), IsEmpty());

    let_run(1s);

    EXPECT_THAT(sent(), ElementsAre("one", "two"));
    EXPECT_EQ(metrics_.of("sender failed"), 2U);
}

TEST_F(OutboxSenderTest, TriesAgainWhatCouldNotBeRead) {
    tables_.arm(Call::Waiting, 1);
    put_and_nudge(message(kAnn, "one"));
    let_run();
    clock_.advance(1s);

    let_run(1s);

    EXPECT_THAT(sent(), ElementsAre("one"));
}

TEST_F(OutboxSenderTest, SendsOnceWhatItCouldNotClose) {
    put(message(kAnn, "one"));
    tables_.arm(Call::Commit, 1);
    sender_.nudge();
    let_run();
    EXPECT_THAT(sent(), ElementsAre("one"));
    clock_.advance(1s);

    let_run(1s);

    EXPECT_THAT(sent(), ElementsAre("one"));
    EXPECT_EQ(waiting(), 0U);
    EXPECT_EQ(metrics_.of("sent"), 1U);
}

TEST_F(OutboxSenderTest, PausesLongerTheLongerItFails) {
    outlet_.fail(1'000'000);
    put_and_nudge(message(kAnn));

    let_run(10min);

    EXPECT_LT(metrics_.of("sender failed"), 300U);
    EXPECT_GT(metrics_.of("sender failed"), 100U);
}

TEST_F(OutboxSenderTest, LooksForWhatNobodyToldItOfWhereOthersShareTheOutbox) {
    sender_.stop();
    OutboxSender shares{{store_->outbox(), outlet_, metrics_, log_, runtime_, 5s}, 2};
    let_run();
    put(message(kAnn, "of another node"));
    let_run(4s);
    EXPECT_THAT(sent(), IsEmpty());

    let_run(1s);
    EXPECT_THAT(sent(), ElementsAre("of another node"));
    put(message(kAnn, "and another"));
    let_run(5s);

    EXPECT_THAT(sent(), ElementsAre("of another node", "and another"));
    shares.stop();
}

}  // namespace
}  // namespace sluice::test
