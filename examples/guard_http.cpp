// A small HTTP server on Boost.Beast whose handler is guarded: two requests at once for each X-API-KEY, one
// more each hour. Without a key: 401. Denied: 429 with Retry-After.
// Usage: guard_http REQUESTS: serves as many on a port of its own, which it prints, and ends.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <sluice/key_resolver.hpp>
#include <sluice/rate_limiter.hpp>
#include <sluice/repositories.hpp>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

class BeastSource final : public sluice::RequestSource {
public:
    explicit BeastSource(const Request& request) : request_{request} {}

    [[nodiscard]] std::optional<std::string> header(std::string_view name) const override {
        const auto found = request_.find(beast::string_view{name.data(), name.size()});
        if (found == request_.end()) {
            return std::nullopt;
        }
        return std::string{found->value().data(), found->value().size()};
    }
    [[nodiscard]] std::optional<std::string> principal() const override { return std::nullopt; }

private:
    const Request& request_;
};

Response answer(http::status status, std::string body) {
    Response response{status, 11, std::move(body)};
    response.keep_alive(false);
    response.prepare_payload();
    return response;
}

class Guard {
public:
    Guard(sluice::RateLimiter& limiter, const sluice::KeyResolver& keys) : limiter_{limiter}, keys_{keys} {}

    [[nodiscard]] Response handle(const Request& request) const {
        const auto key = keys_.resolve(BeastSource{request});
        if (!key) {
            return answer(http::status::unauthorized, "X-API-KEY is missing\n");
        }
        auto served = sluice::limited(limiter_, *key, {"requests"}, 1,
                                      [&] { return answer(http::status::ok, "hello, " + *key + "\n"); });
        return served ? *std::move(served) : denied(served.error().result);
    }

private:
    static Response denied(const sluice::RateLimitResult& result) {
        Response response = answer(http::status::too_many_requests, "too many requests\n");
        const auto seconds = std::chrono::ceil<std::chrono::seconds>(result.wait);
        response.set(http::field::retry_after, std::to_string(seconds.count()));
        return response;
    }

    sluice::RateLimiter& limiter_;
    const sluice::KeyResolver& keys_;
};

void serve_one(asio::ip::tcp::acceptor& acceptor, const Guard& guard) {
    asio::ip::tcp::socket socket = acceptor.accept();
    beast::flat_buffer buffer;
    Request request;
    http::read(socket, buffer, request);
    http::write(socket, guard.handle(request));
    socket.shutdown(asio::ip::tcp::socket::shutdown_send);
}

int serve(int requests) {
    sluice::InMemoryPlanRegistry plans;
    if (!plans.put({.name = "requests", .capacity = 2, .refill = "1/h"})) {
        return 1;
    }
    const auto repository = sluice::make_memory_repository();
    const auto limiter = sluice::make_rate_limiter(plans, *repository);
    const sluice::HeaderKeyResolver keys{"X-API-KEY"};
    const Guard guard{*limiter, keys};

    asio::io_context context;
    asio::ip::tcp::acceptor acceptor{context, {asio::ip::address_v4::loopback(), 0}};
    std::printf("listening on port %d\n", acceptor.local_endpoint().port());
    std::fflush(stdout);
    for (int i = 0; i < requests; ++i) {
        serve_one(acceptor, guard);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return serve(argc > 1 ? std::atoi(argv[1]) : 1);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
}
