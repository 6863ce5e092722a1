// Files below the embedded store fail at the Nth write or sync, for every N, or lose the power there, while
// messages are accepted, retried and sent: what was answered is there, and nothing is counted that was not.
#include <filesystem>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/gateway/gateway_ledger.hpp"
#include "store/rocks/gateway/rocks_gateway_tables.hpp"
#include "store/rocks/slots/rocks_slot_tables.hpp"
#include "store/rocks/work/rocks_work_tables.hpp"
#include "support/faulty_files.hpp"
#include "support/gateway_words.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using Verdict = Reserved::Verdict;

constexpr std::uint64_t kReserve = 70'000'000;

// A ledger on files in memory.
struct Machine {
    bool start() {
        const auto set = std::make_shared<rocks::GatewayTableSet>();
        RocksPlace place{"/disk/data", files.env()};
        place.reserve = kReserve;
        auto opened = rocks::Folder::open(place, {set});
        if (opened) {
            folder = *opened;
            store = make_gateway_ledger(make_rocks_gateway_tables(*std::move(opened), set), {clock, log});
        }
        return store != nullptr;
    }
    void stop() {
        store.reset();
        folder.reset();
    }

    FaultyFiles files;
    HandClock clock{kNoon};
    RecordingLog log;
    std::shared_ptr<rocks::Folder> folder;
    std::unique_ptr<GatewayStore> store;
};

// Sends that are each tried until they are answered, and then sent.
class MessageLife {
public:
    // False: a step was given up.
    bool run(Machine& machine, int tries) {
        const auto insist = [&](auto step) {
            for (int i = 0; i < tries; ++i) {
                if (step()) {
                    return true;
                }
                machine.clock.advance(200ms);
            }
            return false;
        };
        if (!insist([&] { return machine.store->put_user(kAnn, {1'000, 60}).has_value(); })) {
            return false;
        }
        for (; next_ < kMessages; ++next_) {
            if (!insist([&] { return send(*machine.store); })) {
                return false;
            }
            if (next_ % 3 == 2 && !insist([&] { return empty(*machine.store); })) {
                return false;
            }
        }
        return true;
    }

    void check(GatewayStore& store) const {
        ASSERT_TRUE(store.available());
        std::set<MessageId> waiting;
        const auto left = store.outbox().waiting(1'000).value();
        for (const WaitingMessage& one : left) {
            waiting.insert(one.message.id);
        }
        for (const auto& [request, id] : accepted_) {
            const auto story = store.find_message(id).value();
            ASSERT_TRUE(story) << request;
            EXPECT_EQ(story->state, waiting.contains(id) ? MessageState::Queued : MessageState::Sent);
            EXPECT_TRUE(waiting.contains(id) || sent_.contains(id)) << request;
        }
        for (const MessageId& id : closed_) {
            EXPECT_FALSE(waiting.contains(id));
        }
        if (!accepted_.empty()) {
            const auto user = store.find_user(kAnn).value();
            ASSERT_TRUE(user);
            // One more may have been stored without an answer.
            EXPECT_GE(user->count, static_cast<int>(accepted_.size()));
            EXPECT_LE(user->count, static_cast<int>(accepted_.size()) + 1);
        }
    }
    [[nodiscard]] std::size_t accepted() const { return accepted_.size(); }

private:
    static constexpr int kMessages = 12;

    bool send(GatewayStore& store) {
        const std::string name = "r" + std::to_string(next_);
        const MessageDraft draft = named(name);
        const SendRequest request{draft, message_id(++drawn_)};
        const auto reply = store.reserve({&request, 1}, Handover::Outbox).at(0);
        if (reply) {
            EXPECT_TRUE(reply->verdict == Verdict::Granted || reply->verdict == Verdict::Accepted);
            accepted_.emplace(name, *reply->id);
        }
        return reply.has_value();
    }
    bool empty(GatewayStore& store) {
        const auto waiting = store.outbox().waiting(100);
        std::vector<OutboxClosing> closings;
        for (const WaitingMessage& one : waiting ? *waiting : std::vector<WaitingMessage>{}) {
            sent_.insert(one.message.id);
            closings.push_back({one.number, one.message.id, MessageState::Sent});
        }
        const bool closed = waiting && store.outbox().close(closings);
        if (closed) {
            for (const OutboxClosing& one : closings) {
                closed_.insert(one.id);
            }
        }
        return closed;
    }

    int next_ = 0;
    std::size_t drawn_ = 0;
    std::map<std::string, MessageId> accepted_;
    std::set<MessageId> sent_;
    std::set<MessageId> closed_;
};

struct FaultCase {
    const char* name;
    FileFault fault;
};

class GatewayUnderFaults : public testing::TestWithParam<FaultCase> {};

TEST_P(GatewayUnderFaults, KeepsWhatWasAnsweredWhicheverWriteFails) {
    std::size_t nth = 1;
    for (;; ++nth) {
        SCOPED_TRACE("call " + std::to_string(nth));
        Machine machine;
        ASSERT_TRUE(machine.start());
        MessageLife life;
        FileFault fault = GetParam().fault;
        fault.nth = nth;
        machine.files.arm(fault);
        const bool lasting = fault.lasting == Lasting::UntilHealed;

        const bool done = life.run(machine, lasting ? 2 : 5);

        const bool fired = machine.files.fired() > 0;
        EXPECT_TRUE(done || (lasting && fired));
        machine.files.heal();
        machine.clock.advance(1s);
        life.check(*machine.store);
        machine.stop();
        ASSERT_TRUE(machine.start());
        life.check(*machine.store);
        EXPECT_TRUE(life.run(machine, 1));
        if (!fired || HasFailure()) {
            break;
        }
    }
    EXPECT_GT(nth, 5U) << "hardly any call was broken";
}

INSTANTIATE_TEST_SUITE_P(EveryCall, GatewayUnderFaults,
                         testing::Values(FaultCase{"AppendOnce", {FileCall::Append, 1, Lasting::Once}},
                                         FaultCase{"AppendLasting",
                                                   {FileCall::Append, 1, Lasting::UntilHealed}},
                                         FaultCase{"SyncOnce", {FileCall::Sync, 1, Lasting::Once}},
                                         FaultCase{"SyncLasting", {FileCall::Sync, 1, Lasting::UntilHealed}}),
                         [](const auto& one) { return one.param.name; });

TEST(GatewayUnderPowerLoss, KeepsWhatWasAnsweredWheneverThePowerFails) {
    std::size_t nth = 1;
    std::size_t accepted = 0;
    for (;; ++nth) {
        SCOPED_TRACE("the power fails at call " + std::to_string(nth) + ", which is also the seed");
        Machine machine;
        MessageLife life;
        machine.files.cut_power_at(FileCall::Sync, nth);
        if (machine.start()) {
            life.run(machine, 1);
        }
        const bool fired = machine.files.fired() > 0;
        accepted += life.accepted();
        machine.stop();
        machine.files.lose_power(nth);

        ASSERT_TRUE(machine.start());
        life.check(*machine.store);
        if (!fired || HasFailure()) {
            break;
        }
    }
    EXPECT_GT(accepted, 50U) << "hardly anything was there to lose";
}

TEST(GatewayOnANearlyFullDisk, AcceptsNothingNewAndKnowsRetries) {
    Machine machine;
    ASSERT_TRUE(machine.start());
    MessageLife life;
    ASSERT_TRUE(life.run(machine, 1));
    machine.files.set_free_space(kReserve - 1);
    const MessageDraft draft = message(kAnn);
    const MessageDraft again = named("r0");
    const std::array both{SendRequest{draft, message_id("new")}, SendRequest{again, message_id("other")}};

    const auto replies = machine.store->reserve(both, Handover::Outbox);

    EXPECT_EQ(replies[0].error().kind, GatewayFault::Kind::Full);
    EXPECT_EQ(replies[1]->verdict, Verdict::Accepted);
}

TEST(GatewayOnANearlyFullDisk, WritesNothingWhenHardlyAnythingIsLeft) {
    Machine machine;
    ASSERT_TRUE(machine.start());
    ASSERT_TRUE(machine.store->put_user(kAnn, {10, 5}));
    const MessageDraft draft = message(kAnn);
    const SendRequest request{draft, message_id("m")};
    ASSERT_TRUE(machine.store->reserve({&request, 1}, Handover::Outbox).at(0));
    machine.files.set_free_space(kReserve / 4 - 1);
    machine.files.arm({FileCall::Append, 1, Lasting::UntilHealed, true});
    const OutboxClosing closing{machine.store->outbox().waiting(1).value().at(0).number, message_id("m"),
                                MessageState::Sent};

    EXPECT_FALSE(machine.store->outbox().close({&closing, 1}));

    EXPECT_EQ(machine.files.fired(), 0U);
    EXPECT_TRUE(machine.store->available());
    machine.files.heal();
    machine.files.set_free_space(kReserve * 4);
    EXPECT_TRUE(machine.store->outbox().close({&closing, 1}));
}

// Another set of tables of the folder failed and has opened it again: nobody else need do so.
TEST(GatewayTables, DoNotOpenAFolderAgainThatSomebodyElseHasOpened) {
    const TempFolder temp;
    const auto set = std::make_shared<rocks::GatewayTableSet>();
    const auto folder = rocks::Folder::open({temp / "data"}, {set}).value();
    const auto tables = make_rocks_gateway_tables(folder, set);
    ASSERT_TRUE(tables->commit({.users = {{kAnn, {{1, 1}, 0, kNoon}}}}));
    ASSERT_TRUE(folder->reopen());
    const auto opening = folder->opening();

    ASSERT_TRUE(tables->reopen());

    EXPECT_EQ(folder->opening(), opening);
    ASSERT_TRUE(tables->commit({.users = {{kBob, {{1, 1}, 0, kNoon}}}}));
    ASSERT_TRUE(tables->reopen());
    EXPECT_EQ(folder->opening(), opening + 1);
    EXPECT_THAT(tables->users(std::array{kAnn, kBob}).value(),
                testing::Each(testing::Optional(UserWindow{{1, 1}, 0, kNoon})));
}

// The sample was written by a server that was stopped, started again and killed.
TEST(GatewayTables, JoinAFolderThatAnOlderSluiceHasLeft) {
    const TempFolder temp;
    const std::string path = temp / "data";
    std::filesystem::copy(std::filesystem::path{SLUICE_SAMPLES} / "format5", path);
    const auto slots = std::make_shared<rocks::SlotTableSet>();
    const auto work = std::make_shared<rocks::WorkTableSet>(slots->shared_horizon());
    const auto set = std::make_shared<rocks::GatewayTableSet>();
    const auto folder = rocks::Folder::open({path}, {slots, work, set}).value();
    const auto slot_tables = make_rocks_slot_tables(folder, slots, make_rocks_work_tables(folder, work));
    const auto scheduled = [&] {
        std::vector<Instant> times;
        const auto found = slot_tables->find(std::array<std::string_view, 2>{"p1", "p2"}).value();
        for (const auto& slot : found) {
            times.push_back(slot.value().scheduled);
        }
        return times;
    };
    const std::vector<Instant> answered{at("2036-01-01T00:00:00.357Z"), at("2036-01-01T00:00:00.203Z")};
    EXPECT_EQ(scheduled(), answered);
    EXPECT_EQ(folder->database().value()->format(), 5U);
    const auto tables = make_rocks_gateway_tables(folder, set);
    EXPECT_EQ(tables->users(std::array{kAnn}).value().front(), std::nullopt);
    EXPECT_EQ(tables->next_number().value(), 0U);

    ASSERT_TRUE(tables->commit({.users = {{kAnn, {{1, 1}, 0, kNoon}}}}));

    EXPECT_EQ(folder->database().value()->format(), rocks::kFormatVersion);
    EXPECT_EQ(scheduled(), answered);
}

// What is damaged is told, and never taken for something else.
TEST(GatewayTables, RefuseRowsThatCannotBeRead) {
    const TempFolder temp;
    const auto set = std::make_shared<rocks::GatewayTableSet>();
    const auto folder = rocks::Folder::open({temp / "data"}, {set}).value();
    const auto tables = make_rocks_gateway_tables(folder, set);
    auto batch = folder->begin().value();
    const auto database = folder->database().value();
    batch.put(set->table(*database, rocks::GatewayTable::Users), std::string("\0\0\0\x65", 4), "\x81rubbish");
    batch.put(set->table(*database, rocks::GatewayTable::Messages), "m", "\x82of a newer version");
    batch.put(set->table(*database, rocks::GatewayTable::Outbox), std::string(8, '\0'), "\x81");
    ASSERT_TRUE(batch.commit());

    EXPECT_FALSE(tables->users(std::array{kAnn}));
    EXPECT_THAT(tables->messages(std::array{message_id("m")}).error().what, testing::HasSubstr("newer"));
    EXPECT_FALSE(tables->waiting(0, 1));
    EXPECT_FALSE(tables->next_number());
}

}  // namespace
}  // namespace sluice::test
