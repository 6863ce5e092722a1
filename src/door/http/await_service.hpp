#pragma once

#include <memory>
#include <optional>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "app/slots/slot_service.hpp"

namespace sluice::http {

// GCC 12 destroys some temporaries of a co_await expression twice (lambdas with captures, aggregates). So
// what is awaited here takes references, and callers name what they pass.

// Waits for a command. The io thread goes on with other connections meanwhile.
inline boost::asio::awaitable<SlotReply> execute(SlotService& service, SlotCommand&& command,
                                                 WhenFull when_full = WhenFull::Refuse) {
    namespace asio = boost::asio;
    return asio::async_initiate<const asio::use_awaitable_t<>, void(SlotReply)>(
        [&service, when_full](auto handler, SlotCommand&& moved) {
            auto executor = asio::get_associated_executor(handler);
            service.execute(
                std::move(moved),
                [handler = std::move(handler), executor](SlotReply reply) mutable {
                    asio::post(executor, [handler = std::move(handler), reply = std::move(reply)]() mutable {
                        handler(std::move(reply));
                    });
                },
                when_full);
        },
        asio::use_awaitable, std::move(command));
}

// A query and what it found. Shared with the service's thread, which may still be at it when the connection
// is gone.
template <class Query>
struct Asked {
    using Answer = decltype(std::declval<Query&>()(std::declval<SlotStore&>()));
    Query query;
    std::optional<Answer> answer{};
};

inline boost::asio::awaitable<std::optional<SlotError>> wait_for_query(SlotService& service,
                                                                       SlotService::Query&& query) {
    namespace asio = boost::asio;
    return asio::async_initiate<const asio::use_awaitable_t<>, void(std::optional<SlotError>)>(
        [&service](auto handler, SlotService::Query&& moved) {
            auto executor = asio::get_associated_executor(handler);
            service.ask(std::move(moved), [handler = std::move(handler),
                                           executor](std::optional<SlotError> refusal) mutable {
                asio::post(executor, [handler = std::move(handler), refusal = std::move(refusal)]() mutable {
                    handler(std::move(refusal));
                });
            });
        },
        asio::use_awaitable, std::move(query));
}

// Waits for a query of the store: `query(SlotStore&)` gives a Result<T, SlotError>.
template <class Query>
auto ask(SlotService& service, const Query& query) -> boost::asio::awaitable<typename Asked<Query>::Answer> {
    using Answer = typename Asked<Query>::Answer;
    const auto asked = std::make_shared<Asked<Query>>(Asked<Query>{query});
    SlotService::Query run = [asked](SlotStore& store) { asked->answer = asked->query(store); };
    const auto refused = co_await wait_for_query(service, std::move(run));
    if (refused) {
        co_return Answer{Unexpected{*refused}};
    }
    co_return std::move(*asked->answer);
}

}  // namespace sluice::http
