#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/gateway_words.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"

namespace sluice::test {

// A store of the gateway on data of its own, which goes with it.
class GatewayStoreUnderTest {
public:
    virtual ~GatewayStoreUnderTest() = default;
    virtual GatewayStore& store() = 0;
    // Opens the store again on what is durable. False: nothing of it is.
    virtual bool restart() = 0;
    // Lets so much time pass for the store.
    virtual void pass(Duration time) = 0;
};

struct GatewayStoreKind {
    std::string name;
    std::unique_ptr<GatewayStoreUnderTest> (*make)();  // Gives null when its server is not there.
};

// What every GatewayStore promises.
class GatewayStoreContract : public testing::TestWithParam<GatewayStoreKind> {
protected:
    void SetUp() override {
        world_ = GetParam().make();
        if (world_ == nullptr) {
            GTEST_SKIP() << "the server that this store needs is not there; tools/services starts it";
        }
        set_user(kAnn, {3, 5});
    }

    GatewayStore& store() { return world_->store(); }
    void pass(Duration time) { world_->pass(time); }

    UserWindow set_user(UserId user, UserTerms terms) {
        auto window = store().put_user(user, terms);
        EXPECT_TRUE(window) << window.error().what;
        return window ? *window : UserWindow{};
    }
    UserWindow user(UserId id = kAnn) { return store().find_user(id).value().value(); }
    std::int32_t counted(UserId id = kAnn) { return user(id).count; }
    std::optional<MessageState> state(const MessageId& id) {
        const auto story = store().find_message(id).value();
        return story ? std::optional{story->state} : std::nullopt;
    }

    std::vector<Reserved> reserve_all(const std::vector<MessageDraft>& drafts,
                                      Handover handover = Handover::Publisher) {
        std::vector<SendRequest> requests;
        for (const MessageDraft& draft : drafts) {
            requests.push_back({draft, message_id(++drawn_)});
        }
        std::vector<Reserved> all;
        for (const ReserveReply& reply : store().reserve(requests, handover)) {
            EXPECT_TRUE(reply) << reply.error().what;
            all.push_back(*reply);
        }
        return all;
    }
    Reserved reserve(const MessageDraft& draft, Handover handover = Handover::Publisher) {
        return reserve_all({draft}, handover).front();
    }
    void settle(const Reserved& reserved, Published outcome, UserId user = kAnn) {
        const MessageSettlement one{*reserved.id, user, reserved.window_start, outcome};
        EXPECT_TRUE(store().settle({&one, 1}));
    }
    std::vector<WaitingMessage> waiting(std::size_t most = 100) {
        return store().outbox().waiting(most).value();
    }
    void close(const WaitingMessage& one, MessageState state) {
        const OutboxClosing closing{one.number, one.message.id, state};
        EXPECT_TRUE(store().outbox().close({&closing, 1}));
    }

    std::unique_ptr<GatewayStoreUnderTest> world_;
    std::size_t drawn_ = 0;
};

}  // namespace sluice::test
