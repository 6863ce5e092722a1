#pragma once

#include <optional>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sluice::http {

// Waits for what a use case completes with: `start(done)` begins it, and `done` takes a T. The io thread goes
// on with other connections meanwhile.
// GCC 12 destroys some temporaries of a co_await expression twice (lambdas with captures, aggregates). So
// `start` must have a name.
template <class T, class Start>
boost::asio::awaitable<std::optional<T>> await_done(Start& start) {
    namespace asio = boost::asio;
    return asio::async_initiate<const asio::use_awaitable_t<>, void(std::optional<T>)>(
        [](auto handler, Start* begin) {
            auto executor = asio::get_associated_executor(handler);
            (*begin)([handler = std::move(handler), executor](T result) mutable {
                asio::post(executor, [handler = std::move(handler), result = std::move(result)]() mutable {
                    handler(std::optional<T>{std::move(result)});
                });
            });
        },
        asio::use_awaitable, &start);
}

}  // namespace sluice::http
