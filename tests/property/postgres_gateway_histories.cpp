#include <map>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "support/gateway_words.hpp"
#include "support/postgres_gateway.hpp"

// The functions in SQL decide like the rules in core and the words of the port, message for message.
namespace sluice::test {
namespace {

using Given = Reserved::Verdict;

constexpr std::uint64_t kHistories = 150;
constexpr int kTurns = 40;
constexpr std::int32_t kUsers = 4;

// The store as the port describes it, written down as simply as can be.
class NaiveGateway {
public:
    struct Message {
        UserId user;
        MessageState state = MessageState::Queued;
        Instant queued;
        Instant changed;
        Instant window;
        int handed_out = 0;
        bool acknowledged = false;
        std::optional<Instant> expires{};
    };

    Reserved reserve(const SendRequest& request, Handover handover, Instant now) {
        const auto user = users.find(request.draft.user);
        if (user == users.end()) {
            return {Given::UnknownUser};
        }
        MessageId id = request.id;
        if (request.draft.request) {
            const auto known = requests.find({request.draft.user, *request.draft.request});
            if (known != requests.end() && now - known->second.second < kRequestMemory) {
                id = known->second.first;
                Message& message = messages.at(id);
                if (message.acknowledged) {
                    return {Given::Accepted, id};
                }
                if (message.state == MessageState::Queued &&
                    still_counted(user->second, message.window, now)) {
                    return hand_over(id, message, handover, Given::Standing);
                }
            }
        }
        const auto step = sluice::reserve(user->second, now, 1);
        if (step.granted == 0) {
            return {.verdict = Given::Denied, .retry_after = step.retry_after};
        }
        user->second = step.next;
        Message message{.user = request.draft.user, .queued = now, .changed = now, .window = step.next.start};
        if (request.draft.validity) {
            message.expires = now + *request.draft.validity;
        }
        if (request.draft.request) {
            requests.insert_or_assign({request.draft.user, *request.draft.request}, std::pair{id, now});
        }
        return hand_over(id, messages.insert_or_assign(id, message).first->second, handover, Given::Granted);
    }

    void settle(const MessageSettlement& one, Instant now) {
        Message& message = messages.at(one.id);
        if (message.acknowledged || message.state != MessageState::Queued ||
            message.window != one.window_start) {
            return;
        }
        if (one.outcome == Published::Acknowledged) {
            message.acknowledged = true;
        } else if (one.outcome == Published::NotPublished && message.handed_out == 1) {
            message.state = MessageState::Failed;
            message.changed = now;
            UserWindow& window = users.at(message.user);
            window = refund(window, message.window);
        }
    }

    std::map<UserId, UserWindow> users{};
    std::map<MessageId, Message> messages{};
    std::map<std::pair<UserId, RequestId>, std::pair<MessageId, Instant>> requests{};
    std::vector<MessageId> outbox{};

private:
    Reserved hand_over(const MessageId& id, Message& message, Handover handover, Given verdict) {
        ++message.handed_out;
        if (handover == Handover::Outbox) {
            message.acknowledged = true;
            outbox.push_back(id);
            verdict = verdict == Given::Standing ? Given::Accepted : verdict;
        }
        return {verdict, id, message.window, message.expires};
    }
};

void expect_same(const Reserved& said, const Reserved& right) {
    ASSERT_EQ(said.verdict, right.verdict);
    ASSERT_EQ(said.id, right.id);
    ASSERT_EQ(said.retry_after, right.retry_after);
    if (right.verdict == Given::Granted || right.verdict == Given::Standing) {
        ASSERT_EQ(said.window_start, right.window_start);
        ASSERT_EQ(said.expires, right.expires);
    }
}

// Mostly a little, at times to the end of a window or to just before it, to the end of a request's memory, or
// back.
Duration draw_step(Random& random) {
    switch (random.below(12)) {
        case 0: return 1min;
        case 1: return 1min - 1ms;
        case 2: return 2min;
        case 3: return random.below(4) == 0 ? kRequestMemory : 1h;
        case 4: return -Duration{static_cast<std::int64_t>(random.below(90'000))};
        default: return Duration{static_cast<std::int64_t>(random.below(20'000))};
    }
}

class PostgresGatewayHistories : public PostgresTest {
protected:
    PostgresGatewayHistories() : PostgresTest{Furnished::WithSlots} {}
};

// One store, the model beside it, and what was handed out and not settled yet.
class History {
public:
    History(GatewayStore& store, postgres::Connection& clock, std::uint64_t seed)
        : store_{store}, clock_{clock}, seed_{seed}, random_{seed} {}

    void turn() {
        now_ += draw_step(random_);
        set_server_clock(clock_, now_);
        switch (random_.below(6)) {
            case 0: put_user(); break;
            case 1: settle(); break;
            default: reserve(); break;
        }
    }

    void compare() {
        for (std::int32_t i = 0; i <= kUsers; ++i) {
            const auto found = store_.find_user(user(i)).value();
            const auto right = model_.users.find(user(i));
            ASSERT_EQ(found, right == model_.users.end() ? std::nullopt : std::optional{right->second});
        }
        for (const auto& [id, right] : model_.messages) {
            const MessageStory story{id, right.user, right.state, right.queued, right.changed};
            ASSERT_EQ(store_.find_message(id).value(), story) << id.text();
        }
        std::vector<MessageId> waiting;
        const auto found = store_.outbox().waiting(10'000).value();
        for (const WaitingMessage& one : found) {
            waiting.push_back(one.message.id);
            const OutboxClosing closing{one.number, one.message.id, MessageState::Queued};
            ASSERT_TRUE(store_.outbox().close({&closing, 1}));
        }
        ASSERT_EQ(waiting, model_.outbox);
    }

    std::map<Given, int> told{};

private:
    // Each history has users of its own.
    [[nodiscard]] UserId user(std::int32_t number) const {
        return {static_cast<std::int32_t>(seed_) * 10 + number};
    }
    UserId draw_user() { return user(static_cast<std::int32_t>(random_.below(kUsers + 1))); }

    void put_user() {
        const UserId one = user(static_cast<std::int32_t>(random_.below(kUsers)));
        const UserTerms terms{static_cast<std::int32_t>(1 + random_.below(5)),
                              static_cast<std::int32_t>(1 + random_.below(2))};
        model_.users[one] = {terms, 0, now_};
        ASSERT_EQ(store_.put_user(one, terms).value(), model_.users[one]);
    }

    void reserve() {
        std::vector<MessageDraft> drafts(1 + random_.below(12), message(kAnn));
        std::vector<SendRequest> requests;
        for (MessageDraft& draft : drafts) {
            draft.user = draw_user();
            if (random_.below(2) == 0) {
                draft.request = request_id("r" + std::to_string(random_.below(6)));
            }
            if (random_.below(3) == 0) {
                draft.validity = Duration{static_cast<std::int64_t>(random_.below(100'000))};
            }
            requests.push_back({draft, message_id(std::to_string(seed_) + "-" + std::to_string(++drawn_))});
        }
        const Handover handover = random_.below(5) == 0 ? Handover::Outbox : Handover::Publisher;
        const auto replies = store_.reserve(requests, handover);
        for (std::size_t i = 0; i < requests.size(); ++i) {
            ASSERT_TRUE(replies[i]) << replies[i].error().what;
            ASSERT_NO_FATAL_FAILURE(expect_same(*replies[i], model_.reserve(requests[i], handover, now_)));
            ++told[replies[i]->verdict];
            if (replies[i]->verdict == Given::Granted || replies[i]->verdict == Given::Standing) {
                open_.push_back({*replies[i]->id, drafts[i].user, replies[i]->window_start, {}});
            }
        }
    }

    // Some of what is open, in any order, and now and then twice.
    void settle() {
        std::vector<MessageSettlement> settled;
        for (std::size_t i = 0; i < 8 && !open_.empty(); ++i) {
            const std::size_t at = random_.below(open_.size());
            MessageSettlement one = open_[at];
            one.outcome = static_cast<Published>(random_.below(3));
            settled.push_back(one);
            if (random_.below(4) != 0) {
                open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
            }
        }
        ASSERT_TRUE(store_.settle(settled));
        for (const MessageSettlement& one : settled) {
            model_.settle(one, now_);
        }
    }

    GatewayStore& store_;
    postgres::Connection& clock_;
    const std::uint64_t seed_;
    Random random_;
    NaiveGateway model_;
    Instant now_ = kNoon;
    std::vector<MessageSettlement> open_;
    int drawn_ = 0;
};

TEST_F(PostgresGatewayHistories, AgreeWithTheRulesMessageForMessage) {
    const auto clock = connect();
    PostgresGatewayOn store{dsn()};
    std::map<Given, int> told;
    for (std::uint64_t seed = 1; seed <= kHistories && !HasFatalFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        History history{*store, *clock, seed};
        for (int turn = 0; turn < kTurns; ++turn) {
            ASSERT_NO_FATAL_FAILURE(history.turn()) << "turn " << turn;
        }
        ASSERT_NO_FATAL_FAILURE(history.compare());
        for (const auto& [verdict, times] : history.told) {
            told[verdict] += times;
        }
    }
    for (const Given each : {Given::Granted, Given::Standing, Given::Accepted, Given::Denied,
                             Given::UnknownUser}) {  // What never happened says nothing.
        EXPECT_GT(told[each], 100) << static_cast<int>(each);
    }
}

}  // namespace
}  // namespace sluice::test
