#include "support/tcp_proxy.hpp"

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice::test {
namespace {

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

// The system's calls take every kind of address by one type.
sockaddr* plain(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }

bool write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

// What came, or nothing at the end.
std::string read_some(int file) {
    std::string bytes(std::size_t{64} * 1024, '\0');
    const auto got = ::recv(file, bytes.data(), bytes.size(), 0);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
}

void close_both(int client, int server) {
    ::close(client);
    ::close(server);
}

}  // namespace

TcpProxy::TcpProxy(std::uint16_t server_port)
    : server_port_{server_port}, wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
    listen();
    thread_ = std::jthread{[this](const std::stop_token& stop) { serve(stop); }};
}

TcpProxy::~TcpProxy() {
    thread_.request_stop();
    {
        const std::lock_guard lock{mutex_};
        change();
    }
    thread_.join();
    down();
    ::close(wake_);
}

void TcpProxy::listen() {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    auto address = loopback(port_);
    socklen_t size = sizeof address;
    if (::bind(listener, plain(address), size) != 0 || ::listen(listener, 64) != 0 ||
        ::getsockname(listener, plain(address), &size) != 0) {
        throw std::runtime_error{"the proxy cannot listen"};
    }
    port_ = ntohs(address.sin_port);
    listener_ = listener;
}

void TcpProxy::change() {
    ++changes_;
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

void TcpProxy::cut_before(const std::string& text) {
    const std::lock_guard lock{mutex_};
    cut_ = Cut::Before;
    cut_at_ = text;
}

void TcpProxy::cut_after(const std::string& text) {
    const std::lock_guard lock{mutex_};
    cut_ = Cut::After;
    cut_at_ = text;
}

void TcpProxy::freeze() {
    const std::lock_guard lock{mutex_};
    frozen_ = true;
    change();
}

void TcpProxy::thaw() {
    const std::lock_guard lock{mutex_};
    frozen_ = false;
    change();
}

void TcpProxy::down() {
    const std::lock_guard lock{mutex_};
    if (listener_ >= 0) {
        ::close(std::exchange(listener_, -1));
    }
    for (const auto& pair : std::exchange(pairs_, {})) {
        close_both(pair.client, pair.server);
    }
    change();
}

void TcpProxy::up() {
    const std::lock_guard lock{mutex_};
    listen();
    change();
}

int TcpProxy::accepted() const {
    const std::lock_guard lock{mutex_};
    return accepted_;
}

void TcpProxy::accept_one() {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto address = loopback(server_port_);
    ++accepted_;
    if (client < 0 || ::connect(server, plain(address), sizeof address) != 0) {
        close_both(client, server);
        return;
    }
    const int yes = 1;
    ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ::setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    pairs_.push_back({client, server, false});
}

bool TcpProxy::from_client(Pair& pair) {
    const auto bytes = read_some(pair.client);
    if (cut_ != Cut::None && bytes.find(cut_at_) != std::string::npos) {
        if (std::exchange(cut_, Cut::None) == Cut::Before) {
            return false;
        }
        pair.cut_at_answer = true;
    }
    return !bytes.empty() && write_all(pair.server, bytes);
}

bool TcpProxy::from_server(Pair& pair) {
    const auto bytes = read_some(pair.server);
    return !bytes.empty() && !pair.cut_at_answer && write_all(pair.client, bytes);
}

void TcpProxy::serve(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        std::vector<pollfd> files{{wake_, POLLIN, 0}};
        int seen = 0;
        {
            const std::lock_guard lock{mutex_};
            seen = changes_;
            files.push_back({frozen_ ? -1 : listener_, POLLIN, 0});
            for (const auto& pair : pairs_) {
                files.push_back({frozen_ ? -1 : pair.client, POLLIN, 0});
                files.push_back({frozen_ ? -1 : pair.server, POLLIN, 0});
            }
        }
        ::poll(files.data(), files.size(), -1);
        const std::lock_guard lock{mutex_};
        std::uint64_t wakes = 0;
        [[maybe_unused]] const auto drained = ::read(wake_, &wakes, sizeof wakes);
        if (seen != changes_) {
            continue;  // These are no longer the files that were waited for.
        }
        std::vector<Pair> kept;
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            Pair& pair = pairs_[i];
            const bool goes_on = (files[2 + 2 * i].revents == 0 || from_client(pair)) &&
                                 (files[3 + 2 * i].revents == 0 || from_server(pair));
            if (goes_on) {
                kept.push_back(pair);
            } else {
                close_both(pair.client, pair.server);
            }
        }
        pairs_ = std::move(kept);
        if (files[1].revents != 0) {
            accept_one();
        }
    }
}

}  // namespace sluice::test
