#include "net/blocking_http_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "net/http_client.hpp"

namespace sluice::net {

namespace asio = boost::asio;

namespace {

asio::awaitable<void> send_for(HttpClient& client, ServerUrl server, HttpRequest request,
                               std::pair<std::chrono::milliseconds, std::optional<HttpOutcome>*> how) {
    auto outcome = co_await client.send(std::move(server), std::move(request), how.first);
    how.second->emplace(std::move(outcome));
}

}  // namespace

struct BlockingHttpClient::Parts {
    explicit Parts(HttpClientOptions options) : client{std::move(options)} {}

    asio::io_context io{1};
    HttpClient client;  // After io, where its connections live.
};

BlockingHttpClient::BlockingHttpClient(HttpClientOptions options)
    : parts_{std::make_unique<Parts>(std::move(options))} {}

BlockingHttpClient::~BlockingHttpClient() = default;

HttpOutcome BlockingHttpClient::send(const ServerUrl& server, HttpRequest request,
                                     std::chrono::milliseconds patience) {
    asio::io_context& io = parts_->io;
    std::optional<HttpOutcome> outcome;
    std::exception_ptr failure;
    asio::co_spawn(io, send_for(parts_->client, server, std::move(request), {patience, &outcome}),
                   [&failure](const std::exception_ptr& thrown) { failure = thrown; });
    io.restart();
    while (!outcome && !failure && io.run_one() > 0) {
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
    io.poll();  // What is left of the call, so that nothing of it refers to this frame.
    return *std::move(outcome);
}

}  // namespace sluice::net
