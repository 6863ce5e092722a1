#include <cerrno>
#include <stdexcept>

#include <sys/socket.h>
#include <unistd.h>

#include "support/raw_stream.hpp"

namespace sluice::test {
namespace {

class PlainStream final : public RawStream {
public:
    explicit PlainStream(std::uint16_t port) : socket_{connect_to(port)} {}
    ~PlainStream() override { ::close(socket_); }

    std::size_t send(std::string_view bytes) override {
        const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        return sent <= 0 ? 0 : static_cast<std::size_t>(sent);
    }

    std::size_t receive(std::span<char> into) override {
        const auto got = ::recv(socket_, into.data(), into.size(), 0);
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            throw std::runtime_error{"the server did not answer in time"};
        }
        return got <= 0 ? 0 : static_cast<std::size_t>(got);
    }

private:
    int socket_;
};

}  // namespace

std::unique_ptr<RawStream> RawStream::open(std::uint16_t port) { return std::make_unique<PlainStream>(port); }

const net::TlsServer* door_tls() { return nullptr; }

}  // namespace sluice::test
