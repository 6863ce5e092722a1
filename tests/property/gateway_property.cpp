// The properties of the gateway's document that concern the embedded default, by their numbers; those of
// Redis (9 to 11) are not here. Property 6 over HTTP: HttpGateway.GrantsThePlaceThatIsLeftToOneOfTwoHundred.
#include <cstdio>
#include <map>
#include <set>

#include <boost/json/object.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "app/gateway/gateway_ledger.hpp"
#include "app/gateway/gateway_service.hpp"
#include "base/escaped_text.hpp"
#include "door/http/gateway_json.hpp"
#include "main/message_lines.hpp"
#include "store/memory/memory_gateway_tables.hpp"
#include "support/gateway_words.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/virtual_runtime.hpp"

namespace sluice::test {
namespace {

using Verdict = Reserved::Verdict;

std::int32_t any_from(std::int64_t least, std::int64_t most) {
    return static_cast<std::int32_t>(*rc::gen::inRange<std::int64_t>(least, most + 1));
}
UserId any_user() { return {any_from(0, kUserIdMax)}; }
UserTerms any_terms() { return {any_from(1, kUserTermMax), any_from(1, kUserTermMax)}; }
UserTerms small_terms() { return {any_from(1, 8), any_from(1, 60)}; }

struct World {
    HandClock clock{kNoon};
    RecordingLog log;
    std::unique_ptr<GatewayStore> store = make_gateway_ledger(make_memory_gateway_tables(), {clock, log});
    std::size_t drawn = 0;

    Reserved reserve(const MessageDraft& draft, Handover handover = Handover::Publisher) {
        const SendRequest request{draft, message_id(++drawn)};
        return store->reserve({&request, 1}, handover).at(0).value();
    }
    void send_times(UserId user, std::int32_t times) {
        for (std::int32_t i = 0; i < times; ++i) {
            RC_ASSERT(reserve(message(user)).verdict == Verdict::Granted);
        }
    }
    UserWindow window(UserId user) { return store->find_user(user).value().value(); }
    void pass_up_to(Duration most) {
        clock.advance(Duration{*rc::gen::inRange<std::int64_t>(0, most.count() + 1)});
    }
};

RC_GTEST_PROP(GatewayProperty, Nr01TermsAreStoredAsTheyWereSetAndBeginAWindow, ()) {
    World world;
    const UserId user = any_user();
    const bool known = *rc::gen::arbitrary<bool>();
    if (known) {
        RC_ASSERT(world.store->put_user(user, any_terms()).has_value());
        world.reserve(message(user));
        world.pass_up_to(24h);
    }
    const UserTerms terms = any_terms();

    const auto put = world.store->put_user(user, terms);

    const UserWindow expected{terms, 0, world.clock.now()};
    RC_ASSERT(put.value() == expected);
    RC_ASSERT(world.window(user) == expected);
}

RC_GTEST_PROP(GatewayProperty, Nr02TermsThatAreNotAsTheyMustBeAreRefused, ()) {
    const auto number = [] {
        return *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(-3, 4), rc::gen::arbitrary<std::int64_t>(),
                               rc::gen::inRange<std::int64_t>(kUserTermMax - 2, kUserTermMax + 3),
                               rc::gen::inRange<std::int64_t>(kUserIdMax - 2, kUserIdMax + 3));
    };
    const std::int64_t user = number();
    const std::int64_t limit = number();
    const std::int64_t minutes = number();
    const bool fits = user >= 0 && user <= kUserIdMax && limit >= 1 && limit <= kUserTermMax &&
                      minutes >= 1 && minutes <= kUserTermMax;

    const auto read = http::read_user({{"userId", user}, {"rateLimit", limit}, {"timeWindow", minutes}});

    RC_ASSERT(read.has_value() == fits);
    if (fits) {
        RC_ASSERT(read->user.number == user);
        RC_ASSERT(read->terms.rate_limit == limit);
        RC_ASSERT(read->terms.minutes == minutes);
    }
}

RC_GTEST_PROP(GatewayProperty, Nr03AWindowThatHasElapsedBeginsAnew, ()) {
    World world;
    const UserId user = any_user();
    const UserTerms terms = small_terms();
    RC_ASSERT(world.store->put_user(user, terms).has_value());
    world.send_times(user, any_from(0, terms.rate_limit));
    world.clock.advance(terms.length());
    world.pass_up_to(24h);

    const auto sent = world.reserve(message(user));

    RC_ASSERT(sent.verdict == Verdict::Granted);
    RC_ASSERT(world.window(user) == (UserWindow{terms, 1, world.clock.now()}));
}

RC_GTEST_PROP(GatewayProperty, Nr04WithinAWindowAMessageIsSentIfAndOnlyIfThereIsRoom, ()) {
    World world;
    const UserId user = any_user();
    const UserTerms terms = small_terms();
    RC_ASSERT(world.store->put_user(user, terms).has_value());
    const std::int32_t before = any_from(0, terms.rate_limit);
    world.send_times(user, before);
    world.pass_up_to(terms.length() - 1ms);

    const auto sent = world.reserve(message(user));

    const bool room = before < terms.rate_limit;
    RC_ASSERT(sent.verdict == (room ? Verdict::Granted : Verdict::Denied));
    RC_ASSERT(world.window(user) == (UserWindow{terms, before + (room ? 1 : 0), kNoon}));
    RC_ASSERT(room || sent.retry_after == kNoon + terms.length() - world.clock.now());
}

RC_GTEST_PROP(GatewayProperty, Nr05WhatWasNotPublishedIsNotCounted, ()) {
    HandMomentClock moments{kNoon};
    VirtualRuntime runtime{*rc::gen::arbitrary<std::uint64_t>(), moments};
    World world;
    CountingGatewayMetrics metrics;
    FakePublisher publisher;
    GatewayService service{{},
                           {*world.store, &publisher, metrics, world.log, runtime,
                            [&] { return message_id(++world.drawn); }, [] {}}};
    RC_ASSERT(world.store->put_user(kAnn, {1'000, 60}).has_value());
    const auto outcomes = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 3));
    std::int32_t expected = 0;
    for (const int outcome : outcomes) {
        publisher.at_once = Published{static_cast<std::uint8_t>(outcome)};
        std::optional<SendAnswer> answer;
        service.send(message(kAnn), [&](SendAnswer told) { answer = std::move(told); });
        runtime.wait([&] { return answer.has_value(); });

        expected += *publisher.at_once == Published::NotPublished ? 0 : 1;
        RC_ASSERT((answer->outcome == SendOutcome::Accepted) ==
                  (*publisher.at_once == Published::Acknowledged));
    }
    service.stop();

    RC_ASSERT(world.window(kAnn).count == expected);
}

RC_GTEST_PROP(GatewayProperty, Nr06OfManyAtOnceExactlyAsManyAreSentAsThereIsRoomFor, ()) {
    World world;
    const UserTerms terms = small_terms();
    RC_ASSERT(world.store->put_user(kAnn, terms).has_value());
    world.send_times(kAnn, terms.rate_limit - 1);
    const std::vector<MessageDraft> drafts(static_cast<std::size_t>(any_from(1, 300)), message(kAnn));
    std::vector<SendRequest> requests;
    for (const MessageDraft& draft : drafts) {
        requests.push_back({draft, message_id(++world.drawn)});
    }

    const auto replies = world.store->reserve(requests, Handover::Outbox);

    const auto granted = std::ranges::count_if(
        replies, [](const ReserveReply& reply) { return reply->verdict == Verdict::Granted; });
    RC_ASSERT(granted == 1);
    RC_ASSERT(world.window(kAnn).count == terms.rate_limit);
}

RC_GTEST_PROP(GatewayProperty, Nr07TheMessageOfASendIsHandedOverAsItWas, ()) {
    World world;
    const UserId user = any_user();
    RC_ASSERT(world.store->put_user(user, {1, 1}).has_value());
    const auto text = *rc::gen::suchThat<std::string>(is_sendable);

    const auto sent = world.reserve(message(user, text), Handover::Outbox);

    const auto waiting = world.store->outbox().waiting(2).value();
    RC_ASSERT(waiting.size() == 1U);
    RC_ASSERT(waiting[0].message.id == *sent.id);
    RC_ASSERT(waiting[0].message.user == user);
    RC_ASSERT(waiting[0].message.text == text);
}

RC_GTEST_PROP(GatewayProperty, Nr08TheLineOfAMessageSaysThatItWasSentAndWhatItIs, ()) {
    const HandClock clock{kNoon};
    std::FILE* const file = std::tmpfile();
    RC_ASSERT(file != nullptr);
    const auto lines = make_message_lines(LogFormat::Text, clock, file);
    const UserId user = any_user();
    const auto text = *rc::gen::suchThat<std::string>(is_sendable);

    RC_ASSERT(lines->send({message_id("m"), user, text}));

    std::string written(200'000, '\0');
    std::rewind(file);
    written.resize(std::fread(written.data(), 1, written.size(), file));
    std::fclose(file);
    std::string expected = "SMS Sent: " + std::to_string(user.number) + ": ";
    append_escaped(expected, text);
    RC_ASSERT(written == "2025-06-01T12:00:00.000Z INFO  Sender - " + expected + "\n");
}

// Beyond the document: any history of sends, retries and outcomes that come late or never.
RC_GTEST_PROP(GatewayProperty, NoWindowCountsLessThanWasPublishedInItNorMoreThanItsLimit, ()) {
    World world;
    const UserTerms terms{any_from(1, 4), 1};
    RC_ASSERT(world.store->put_user(kAnn, terms).has_value());
    std::vector<MessageSettlement> open;
    std::map<Instant, std::set<MessageId>> published;
    const int steps = any_from(10, 60);
    for (int step = 0; step < steps; ++step) {
        const int what = any_from(0, 3);
        if (what == 0) {
            world.pass_up_to(40s);
        } else if (what == 1 && !open.empty()) {
            const auto place = static_cast<std::size_t>(any_from(0, static_cast<int>(open.size()) - 1));
            MessageSettlement one = open[place];
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(place));
            one.outcome = Published{static_cast<std::uint8_t>(any_from(0, 2))};
            if (one.outcome != Published::NotPublished) {
                published[one.window_start].insert(one.id);
            }
            RC_ASSERT(world.store->settle({&one, 1}).has_value());
        } else {
            const auto reply = world.reserve(named("r" + std::to_string(any_from(0, 5))));
            if (reply.verdict == Verdict::Granted || reply.verdict == Verdict::Standing) {
                open.push_back({*reply.id, kAnn, reply.window_start, Published::Unknown});
            }
        }
        const UserWindow window = world.window(kAnn);
        RC_ASSERT(window.count <= terms.rate_limit);
        RC_ASSERT(window.count >= static_cast<std::int32_t>(published[window.start].size()));
    }
}

}  // namespace
}  // namespace sluice::test
