#include "net/http_client.hpp"

#include <deque>
#include <map>

#include <boost/asio/this_coro.hpp>
#include <sys/socket.h>

#include "net/http_call_internal.hpp"

namespace sluice::net {

namespace asio = boost::asio;

// Connections that wait for a next request, by server.
class HttpClient::Pool {
public:
    explicit Pool(const HttpClientOptions& options) : options_{options} {}

    // Null when there is none that seems alive.
    std::unique_ptr<Wire> take(const ServerUrl& server) {
        const auto found = idle_.find(server.text());
        while (found != idle_.end() && !found->second.empty()) {
            std::unique_ptr<Wire> wire = std::move(found->second.back());
            found->second.pop_back();
            if (is_fresh(*wire) && is_silent(*wire)) {
                return wire;
            }
        }
        return nullptr;
    }

    void put(const ServerUrl& server, std::unique_ptr<Wire> wire) {
        drop_stale();
        wire->idle_since = std::chrono::steady_clock::now();
        if (size() >= options_.idle_max_of_all) {
            return;
        }
        auto& waiting = idle_[server.text()];
        if (waiting.size() < options_.idle_max) {
            waiting.push_back(std::move(wire));
        }
    }

    [[nodiscard]] std::size_t size() const {
        std::size_t sum = 0;
        for (const auto& [server, waiting] : idle_) {
            sum += waiting.size();
        }
        return sum;
    }

private:
    [[nodiscard]] bool is_fresh(const Wire& wire) const {
        return std::chrono::steady_clock::now() - wire.idle_since < options_.idle_time;
    }

    // A server that has closed, or that speaks unasked, is not asked anything over this connection.
    static bool is_silent(Wire& wire) {
        char byte = 0;
        const auto read = ::recv(wire.socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        return read < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }

    void drop_stale() {
        for (auto each = idle_.begin(); each != idle_.end();) {
            auto& waiting = each->second;
            while (!waiting.empty() && !is_fresh(*waiting.front())) {
                waiting.pop_front();
            }
            each = waiting.empty() ? idle_.erase(each) : std::next(each);
        }
    }

    const HttpClientOptions& options_;
    std::map<std::string, std::deque<std::unique_ptr<Wire>>> idle_;  // The longest idle first.
};

HttpClient::HttpClient(HttpClientOptions options)
    : options_{std::move(options)},
      pool_{std::make_unique<Pool>(options_)},
      names_{std::make_unique<NameLookups>(options_)} {}

HttpClient::~HttpClient() = default;

std::size_t HttpClient::idle() const { return pool_->size(); }

asio::awaitable<HttpOutcome> HttpClient::send(ServerUrl server, HttpRequest request,
                                              std::chrono::milliseconds patience) {
    const Call call{options_, server, request, *names_, std::chrono::steady_clock::now() + patience};
    const auto executor = co_await asio::this_coro::executor;
    for (auto kept = pool_->take(server);; kept = nullptr) {
        auto wire = kept ? std::move(kept) : std::make_unique<Wire>(executor);
        const bool used_before = wire->socket.is_open();
        if (!used_before) {
            auto fault = co_await open_wire(call, *wire);
            if (fault) {
                co_return Unexpected{*std::move(fault)};
            }
        }
        auto exchanged = co_await exchange(call, *wire);
        if (exchanged.keeps) {
            pool_->put(server, std::move(wire));
        }
        const bool again = used_before && exchanged.unheard && request.repeatable;
        if (!again) {
            co_return std::move(exchanged.outcome);
        }
    }
}

}  // namespace sluice::net
