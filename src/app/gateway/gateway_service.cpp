#include "app/gateway/gateway_service.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::string_view kComponent = "Gateway";

SendAnswer answer_to(const GatewayFault& fault) {
    // What is not known may be sent: its name lets the client ask.
    return {SendOutcome::StoreDown, fault.kind == GatewayFault::Kind::Unknown ? fault.id : std::nullopt};
}

SendAnswer answer_to(const Reserved& reserved) {
    switch (reserved.verdict) {
        case Reserved::Verdict::Denied: return {SendOutcome::Limited, std::nullopt, reserved.retry_after};
        case Reserved::Verdict::UnknownUser: return {SendOutcome::UnknownUser};
        case Reserved::Verdict::Granted:
        case Reserved::Verdict::Standing:
        case Reserved::Verdict::Accepted: break;
    }
    return {SendOutcome::Accepted, reserved.id};
}

bool is_to_be_published(const Reserved& reserved) {
    return reserved.verdict == Reserved::Verdict::Granted || reserved.verdict == Reserved::Verdict::Standing;
}

}  // namespace

GatewayService::GatewayService(GatewayServiceOptions options, GatewayServiceWorld world)
    : options_{options},
      world_{std::move(world)},
      reservations_{world_.runtime,
                    {options.batch_max, options.queue_max, options.workers},
                    [this](std::span<ErrandRef> errands) { return reserve(errands); }},
      settlements_{world_.runtime,
                   {options.batch_max, options.queue_max, options.workers},
                   [this](std::span<MessageSettlement> settlements) { return settle(settlements); }},
      queries_{world_.runtime, {1, options.queries_max, options.workers}, [](std::span<Query> batch) {
                   for (Query& query : batch) {
                       query();
                   }
                   return std::vector<std::monostate>(batch.size());
               }} {}

void GatewayService::stop() {
    reservations_.stop();
    if (world_.publisher != nullptr) {
        world_.publisher->stop();
    }
    settlements_.stop();
    queries_.stop();
}

void GatewayService::send(MessageDraft message, UniqueFunction<void(SendAnswer)> done) {
    auto errand = std::make_shared<Errand>(
        Errand{std::move(message), world_.draw_id(), std::move(done), world_.runtime.now()});
    auto complete = [this, errand](Result<ReserveReply, Refusal> reply) { go_on(errand, std::move(reply)); };
    reservations_.submit({errand, std::move(complete), errand->begun + options_.patience});
}

std::vector<ReserveReply> GatewayService::reserve(std::span<ErrandRef> errands) {
    std::vector<SendRequest> requests;
    requests.reserve(errands.size());
    for (const ErrandRef& errand : errands) {
        requests.push_back({errand->message, errand->id});
    }
    world_.metrics.reserved(requests.size());
    const Handover handover = world_.publisher == nullptr ? Handover::Outbox : Handover::Publisher;
    auto replies = world_.store.reserve(requests, handover);
    const auto waits = [](const ReserveReply& reply) {
        // Also what nobody knows of may wait now.
        return reply ? reply->id.has_value() : reply.error().kind == GatewayFault::Kind::Unknown;
    };
    if (world_.publisher == nullptr && std::ranges::any_of(replies, waits)) {
        world_.on_waiting();
    }
    return replies;
}

void GatewayService::go_on(const ErrandRef& errand, Result<ReserveReply, Refusal> reply) {
    if (!reply) {
        answer(*errand, {SendOutcome::Overloaded});
    } else if (!*reply) {
        tell(reply->error());
        answer(*errand, answer_to(reply->error()));
    } else if (world_.publisher != nullptr && is_to_be_published(**reply)) {
        publish(errand, **reply);
    } else {
        answer(*errand, answer_to(**reply));
    }
}

void GatewayService::publish(const ErrandRef& errand, const Reserved& reserved) {
    const MessageDraft& draft = errand->message;
    OutgoingMessage message{*reserved.id, draft.user,       draft.text,    draft.to,
                            draft.from,   reserved.expires, draft.request, reserved.window_start};
    MessageSettlement settlement{*reserved.id, draft.user, reserved.window_start, Published::Unknown};
    auto done = [this, errand, settlement](Published outcome) mutable {
        settlement.outcome = outcome;
        conclude(errand, settlement);
    };
    world_.publisher->publish(std::move(message), std::move(done));
}

// Settled before it is answered: a retry after the answer finds it known. Whether that was stored changes
// nothing for the client.
void GatewayService::conclude(const ErrandRef& errand, const MessageSettlement& settlement) {
    if (settlement.outcome == Published::Unknown) {
        answer(*errand, {SendOutcome::PublisherDown, settlement.id});
        return;
    }
    const bool sent = settlement.outcome == Published::Acknowledged;
    const SendAnswer told{sent ? SendOutcome::Accepted : SendOutcome::PublisherDown,
                          sent ? std::optional{settlement.id} : std::nullopt};
    auto complete = [this, errand, told](const Result<std::monostate, Refusal>& /*settled*/) {
        answer(*errand, told);
    };
    // The publisher bounds what is under way, and so what waits here.
    settlements_.submit(
        {.request = settlement, .complete = std::move(complete), .when_full = WhenFull::WaitForRoom});
}

std::vector<std::monostate> GatewayService::settle(std::span<MessageSettlement> settlements) {
    if (const auto settled = world_.store.settle(settlements); !settled) {
        world_.log.write(
            LogLevel::Warn, kComponent,
            std::to_string(settlements.size()) + " messages may stay counted: " + settled.error().what);
    }
    return std::vector<std::monostate>(settlements.size());
}

void GatewayService::answer(Errand& errand, SendAnswer answer) {
    world_.metrics.answered(answer.outcome);
    if (answer.outcome == SendOutcome::Accepted) {
        world_.metrics.handed_over(world_.runtime.now() - errand.begun);
    }
    errand.done(std::move(answer));
}

void GatewayService::tell(const GatewayFault& fault) {
    if (world_.log.enabled(LogLevel::Debug)) {
        world_.log.write(LogLevel::Debug, kComponent, "The store failed: " + fault.what);
    }
}

template <class T, class Call>
void GatewayService::ask(Call call, Done<T> done) {
    struct Asked {
        Call call;
        Done<T> done;
        std::optional<Result<T, GatewayRefusal>> answer{};
    };
    const auto asked = std::make_shared<Asked>(Asked{std::move(call), std::move(done)});
    auto query = [this, asked] {
        auto result = asked->call(world_.store);
        if (!result) {
            tell(result.error());
            asked->answer.emplace(Unexpected{GatewayRefusal::StoreDown});
            return;
        }
        asked->answer.emplace(*std::move(result));
    };
    auto complete = [asked](const Result<std::monostate, Refusal>& result) {
        asked->done(result ? *std::move(asked->answer) : Unexpected{GatewayRefusal::Overloaded});
    };
    queries_.submit({std::move(query), std::move(complete), world_.runtime.now() + options_.patience});
}

void GatewayService::put_user(UserId user, UserTerms terms, Done<UserWindow> done) {
    ask<UserWindow>([user, terms](GatewayStore& store) { return store.put_user(user, terms); },
                    std::move(done));
}

void GatewayService::find_user(UserId user, Done<std::optional<UserWindow>> done) {
    ask<std::optional<UserWindow>>([user](GatewayStore& store) { return store.find_user(user); },
                                   std::move(done));
}

void GatewayService::find_message(MessageId id, Done<std::optional<MessageStory>> done) {
    ask<std::optional<MessageStory>>(
        [id = std::move(id)](GatewayStore& store) { return store.find_message(id); }, std::move(done));
}

void GatewayService::readiness(UniqueFunction<void(bool)> done) {
    const auto look = [](GatewayStore& store) -> Result<bool, GatewayFault> { return store.available(); };
    auto tell_it = [done = std::move(done)](Result<bool, GatewayRefusal> ready) mutable {
        done(ready && *ready);
    };
    ask<bool>(look, std::move(tell_it));
}

}  // namespace sluice
