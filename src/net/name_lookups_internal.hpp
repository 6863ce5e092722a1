#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>

#include "base/steady_clock.hpp"
#include "net/http_message.hpp"

namespace sluice::net {

// Finds the addresses of names on threads of its own, because a search blocks and nothing stops one. Whoever
// asks for a name that is being searched for waits for the same search: so a name that nobody answers for
// holds one thread, and keeps no other name waiting while there are more.
// Thread safety: none; belongs to one io thread, where any number of coroutines may use it at the same time.
class NameLookups {
public:
    using Addresses = std::vector<boost::asio::ip::address>;

    explicit NameLookups(const HttpClientOptions& options);
    // Waits for the searches that have begun.
    ~NameLookups();
    NameLookups(const NameLookups&) = delete;
    NameLookups& operator=(const NameLookups&) = delete;

    // Nothing: not found by then. Fails with the system's reason.
    boost::asio::awaitable<std::optional<Result<Addresses, std::string>>> find(std::string host,
                                                                               SteadyTime deadline);

private:
    class Searches;

    const std::shared_ptr<Searches> searches_;  // Shared with what searches have left to do on the io thread.
};

}  // namespace sluice::net
