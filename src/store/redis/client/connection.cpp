#include "store/redis/client/connection.hpp"

#include <array>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <hiredis/hiredis.h>
#include <sys/socket.h>

namespace sluice::redis {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Failed = Unexpected<std::string>;
using TlsStream = asio::ssl::stream<tcp::socket>;

class AsioTlsIdentity final : public TlsIdentity {
public:
    asio::ssl::context context{asio::ssl::context::tls_client};
};

struct ReaderDeleter {
    void operator()(redisReader* reader) const { redisReaderFree(reader); }
};

// What both kinds of stream share: operations that end at a deadline. Each connection has a context of its
// own, and runs it itself while it waits.
template <class Stream>
class AsioConnection final : public Connection {
public:
    template <class... Arguments>
    explicit AsioConnection(Endpoint endpoint, Arguments&&... arguments)
        : endpoint_{std::move(endpoint)}, stream_{context_, std::forward<Arguments>(arguments)...} {
        if (!reader_) {
            throw std::bad_alloc{};
        }
    }

    [[nodiscard]] const Endpoint& endpoint() const override { return endpoint_; }

    // Says what went wrong.
    std::optional<std::string> connect(Deadline deadline) {
        tcp::resolver resolver{context_};
        tcp::resolver::results_type found;
        auto error = await(deadline, [&](auto done) {
            resolver.async_resolve(endpoint_.host, std::to_string(endpoint_.port),
                                   [&found, done](error_code failure, tcp::resolver::results_type results) {
                                       found = std::move(results);
                                       done(failure);
                                   });
        });
        if (!error) {
            error = await(deadline, [&](auto done) {
                asio::async_connect(socket(), found,
                                    [done](error_code failure, const tcp::endpoint&) { done(failure); });
            });
        }
        if (!error) {
            error_code ignored;  // Slower without, but not wrong.
            socket().set_option(tcp::no_delay{true}, ignored);
        }
        if (error) {
            return error->message();
        }
        if constexpr (std::is_same_v<Stream, TlsStream>) {
            if (const auto failure = shake_hands(deadline)) {
                return in_words_of_tls(*failure);
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] const std::string& trouble() const override { return trouble_; }

    bool send(std::string_view bytes, Deadline deadline) override {
        return !over_ && !await(deadline, [&](auto done) {
            asio::async_write(stream_, asio::buffer(bytes),
                              [done](error_code failure, std::size_t) { done(failure); });
        });
    }

    std::optional<Reply> receive(Deadline deadline) override {
        while (!over_) {
            void* reply = nullptr;
            if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
                trouble_ = "says what is not Redis's protocol";
                break;
            }
            if (reply != nullptr) {
                return Reply{static_cast<redisReply*>(reply)};
            }
            std::size_t size = 0;
            const auto error = await(deadline, [&](auto done) {
                stream_.async_read_some(asio::buffer(buffer_),
                                        [&size, done](error_code failure, std::size_t bytes) {
                                            size = bytes;
                                            done(failure);
                                        });
            });
            if (error || redisReaderFeed(reader_.get(), buffer_.data(), size) != REDIS_OK) {
                break;
            }
        }
        over_ = true;
        return std::nullopt;
    }

    [[nodiscard]] bool alive() override {
        char byte = 0;
        const auto read = over_ ? 0 : ::recv(socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        // Over TLS a server may send session tickets whenever it likes.
        const bool silent = std::is_same_v<Stream, TlsStream> ? read != 0 : read < 0;
        return !over_ && silent && reader_->pos == reader_->len && (read > 0 || errno == EAGAIN);
    }

private:
    tcp::socket& socket() {
        if constexpr (std::is_same_v<Stream, TlsStream>) {
            return stream_.next_layer();
        } else {
            return stream_;
        }
    }

    std::optional<error_code> shake_hands(Deadline deadline) {
        error_code failure;
        stream_.set_verify_mode(asio::ssl::verify_peer, failure);
        // By OpenSSL itself, which tells a wrong name from other faults. An address is no name.
        X509_VERIFY_PARAM* const wanted = SSL_get0_param(stream_.native_handle());
        if (X509_VERIFY_PARAM_set1_ip_asc(wanted, endpoint_.host.c_str()) != 1 &&
            X509_VERIFY_PARAM_set1_host(wanted, endpoint_.host.data(), endpoint_.host.size()) != 1) {
            return asio::error::no_memory;
        }
        // SSL_set_tlsext_host_name, whose macro has a cast of the old style.
        std::string host = endpoint_.host;
        SSL_ctrl(stream_.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                 host.data());
        if (failure) {
            return failure;
        }
        return await(deadline, [&](auto done) { stream_.async_handshake(TlsStream::client, done); });
    }

    // Which fault it was, for whoever has to mend it, and OpenSSL's own words.
    std::string in_words_of_tls(const error_code& failure) {
        const long verified = SSL_get_verify_result(stream_.native_handle());
        const std::string own_words =
            " (" +
            std::string{verified == X509_V_OK ? failure.message() : X509_verify_cert_error_string(verified)} +
            ")";
        switch (verified) {
            case X509_V_OK: break;
            case X509_V_ERR_HOSTNAME_MISMATCH:
            case X509_V_ERR_IP_ADDRESS_MISMATCH:
                return "its certificate is for another name than '" + endpoint_.host + "'" + own_words;
            case X509_V_ERR_CERT_HAS_EXPIRED: return "its certificate has expired" + own_words;
            case X509_V_ERR_CERT_NOT_YET_VALID: return "its certificate is not valid yet" + own_words;
            default: return "no authority that we believe vouches for its certificate" + own_words;
        }
        if (failure == asio::error::timed_out) {  // Redis waits for the end of a line that never comes.
            return "no answer to TLS in time; this port may not speak it";
        }
        const bool no_tls =
            ERR_GET_REASON(static_cast<unsigned long>(failure.value())) == SSL_R_WRONG_VERSION_NUMBER;
        return (no_tls ? "it does not speak TLS on this port" : "TLS with it fails") + own_words;
    }

    // Starts an operation and waits for its end; what went wrong, if anything. Then the connection is over.
    template <class Start>
    std::optional<error_code> await(Deadline deadline, Start start) {
        std::optional<error_code> result;
        start([&result](error_code failure) { result = failure; });
        context_.restart();
        context_.run_until(deadline);
        if (!result) {
            error_code ignored;
            socket().close(ignored);
            context_.run();
            result = asio::error::timed_out;
        }
        if (!*result) {
            return std::nullopt;
        }
        over_ = true;
        trouble_ = *result == asio::error::timed_out ? "does not answer in time"
                   : *result == asio::error::eof     ? "has closed the connection"
                                                     : "has lost the connection: " + result->message();
        return result;
    }

    const Endpoint endpoint_;
    asio::io_context context_{1};
    Stream stream_;
    std::unique_ptr<redisReader, ReaderDeleter> reader_{redisReaderCreate()};
    std::array<char, 16'384> buffer_{};
    bool over_ = false;
    std::string trouble_;
};

template <class Stream, class... Arguments>
Result<std::unique_ptr<Connection>, std::string> connected(const Endpoint& endpoint, Deadline deadline,
                                                           Arguments&&... arguments) {
    auto connection =
        std::make_unique<AsioConnection<Stream>>(endpoint, std::forward<Arguments>(arguments)...);
    if (const auto failure = connection->connect(deadline)) {
        return Failed{"Redis at " + endpoint.text() + " cannot be reached: " + *failure};
    }
    return std::unique_ptr<Connection>{std::move(connection)};
}

}  // namespace

Result<std::unique_ptr<TlsIdentity>, std::string> make_tls_identity(const std::string& ca_file,
                                                                    const std::string& certificate_file,
                                                                    const std::string& key_file) {
    auto identity = std::make_unique<AsioTlsIdentity>();
    error_code failure;
    if (ca_file.empty()) {
        identity->context.set_default_verify_paths(failure);
    } else {
        identity->context.load_verify_file(ca_file, failure);
    }
    if (failure) {
        return Failed{"the authorities for TLS to Redis cannot be read from '" + ca_file + "'"};
    }
    if (!certificate_file.empty()) {
        identity->context.use_certificate_chain_file(certificate_file, failure);
        if (!failure) {
            identity->context.use_private_key_file(key_file, asio::ssl::context::pem, failure);
        }
    }
    if (failure) {
        return Failed{"the certificate '" + certificate_file +
                      "' and its key cannot be used for TLS to Redis"};
    }
    return std::unique_ptr<TlsIdentity>{std::move(identity)};
}

Result<std::unique_ptr<Connection>, std::string> Connection::open(const Endpoint& endpoint, TlsIdentity* tls,
                                                                  Deadline deadline) {
    try {
        if (tls != nullptr) {
            return connected<TlsStream>(endpoint, deadline, static_cast<AsioTlsIdentity*>(tls)->context);
        }
        return connected<tcp::socket>(endpoint, deadline);
    } catch (const std::exception& problem) {  // No descriptors or no memory left.
        return Failed{"no connection to Redis at " + endpoint.text() + ": " + problem.what()};
    }
}

std::optional<Reply> Connection::ask(std::span<const std::string> words, Deadline deadline) {
    std::string bytes;
    append_command(bytes, words);
    return send(bytes, deadline) ? receive(deadline) : std::nullopt;
}

}  // namespace sluice::redis
