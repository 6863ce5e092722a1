#include <algorithm>
#include <map>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "net/name_lookups_internal.hpp"

namespace sluice::net {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

using Found = Result<NameLookups::Addresses, std::string>;

Found search_system(asio::thread_pool& pool, const std::string& host) {
    error_code error;
    const auto results = tcp::resolver{pool}.resolve(host, "0", tcp::resolver::numeric_service, error);
    if (error) {
        return Unexpected{error.message()};
    }
    NameLookups::Addresses addresses;
    for (const auto& result : results) {
        addresses.push_back(result.endpoint().address());
    }
    return addresses;
}

// What one search has found, and who waits for it. Touched by the io thread alone.
struct Search {
    std::optional<Found> found;
    std::vector<asio::steady_timer*> waiting;
};

}  // namespace

class NameLookups::Searches : public std::enable_shared_from_this<Searches> {
public:
    explicit Searches(const HttpClientOptions& options)
        : find_{options.find_addresses}, most_{options.lookups_max} {}

    // The search for this name that is under way, or a new one.
    std::shared_ptr<Search> search(const std::string& host, const asio::any_io_executor& executor) {
        auto& known = under_way_[host];
        if (known) {
            return known;
        }
        known = std::make_shared<Search>();
        if (!pool_) {
            pool_.emplace(most_);
        }
        asio::post(*pool_, [self = shared_from_this(), host, executor] {
            auto found = self->find_ ? self->find_(host) : search_system(*self->pool_, host);
            asio::post(executor, [self, host, found = std::move(found)]() mutable {
                self->tell(host, std::move(found));
            });
        });
        return known;
    }

    // Waits for what has begun, so that nothing is sent to the io thread afterwards; what has not is
    // forgotten.
    void end() {
        if (pool_) {
            pool_->stop();
            pool_->join();
            pool_.reset();
        }
    }

private:
    void tell(const std::string& host, Found found) {
        const auto search = under_way_.extract(host).mapped();
        search->found = std::move(found);
        for (asio::steady_timer* const waiting : search->waiting) {
            waiting->cancel();
        }
    }

    const std::function<Result<Addresses, std::string>(const std::string&)> find_;
    const std::size_t most_;
    std::optional<asio::thread_pool> pool_;  // Made when the first name is searched for.
    std::map<std::string, std::shared_ptr<Search>> under_way_;
};

NameLookups::NameLookups(const HttpClientOptions& options) : searches_{std::make_shared<Searches>(options)} {}

NameLookups::~NameLookups() { searches_->end(); }

asio::awaitable<std::optional<Found>> NameLookups::find(std::string host, SteadyTime deadline) {
    const auto executor = co_await asio::this_coro::executor;
    const auto search = searches_->search(host, executor);
    asio::steady_timer patience{executor, deadline};
    search->waiting.push_back(&patience);
    error_code ignored;
    co_await patience.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    std::erase(search->waiting, &patience);
    co_return search->found;
}

}  // namespace sluice::net
