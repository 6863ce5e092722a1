#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "store/redis/client/redis_address.hpp"
#include "store/redis/client/reply.hpp"

namespace sluice::redis {

using Deadline = std::chrono::steady_clock::time_point;

// Whom to believe over TLS, and who we are; made once for all connections.
class TlsIdentity {
public:
    virtual ~TlsIdentity() = default;
};

// Empty names: the system's authorities, no certificate of our own. Fails if a file cannot be used.
Result<std::unique_ptr<TlsIdentity>, std::string> make_tls_identity(const std::string& ca_file,
                                                                    const std::string& certificate_file,
                                                                    const std::string& key_file);

// One connection. Commands are sent and replies received in order; what has failed or was too late once is
// over: a late reply is never taken for another's.
// Thread safety: none.
class Connection {
public:
    // Speaks TLS if there is an identity, and then believes only a certificate for the endpoint's host.
    // `tls` must outlive the connection.
    static Result<std::unique_ptr<Connection>, std::string> open(const Endpoint& endpoint, TlsIdentity* tls,
                                                                 Deadline deadline);
    virtual ~Connection() = default;

    [[nodiscard]] virtual const Endpoint& endpoint() const = 0;

    // False: the connection is over.
    virtual bool send(std::string_view bytes, Deadline deadline) = 0;
    // The next reply. Nothing: the connection is over.
    virtual std::optional<Reply> receive(Deadline deadline) = 0;
    // What went wrong, in words that follow the server's name. Of a connection that is over.
    [[nodiscard]] virtual const std::string& trouble() const = 0;
    // Whether nothing has gone wrong so far, and the server has neither closed it nor sent what nobody asked.
    [[nodiscard]] virtual bool alive() = 0;

    // One command and its reply.
    std::optional<Reply> ask(std::span<const std::string> words, Deadline deadline);
};

}  // namespace sluice::redis
