#include "support/webhook_receiver.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

bool equal_but_case(std::string_view left, std::string_view right) {
    return std::ranges::equal(
        left, right, [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

}  // namespace

std::string Arrival::header(std::string_view name) const {
    std::size_t line = head.find("\r\n");
    while (line != std::string::npos) {
        const std::size_t begin = line + 2;
        line = head.find("\r\n", begin);
        const std::string_view text = std::string_view{head}.substr(begin, line - begin);
        const std::size_t colon = text.find(':');
        if (colon != std::string_view::npos && equal_but_case(text.substr(0, colon), name)) {
            const std::size_t value = text.find_first_not_of(' ', colon + 1);
            return value == std::string_view::npos ? std::string{} : std::string{text.substr(value)};
        }
    }
    return {};
}

// A connection, its unread bytes, and the answer that it waits for.
struct WebhookReceiver::Peer {
    int socket;
    std::string unread{};
    steady_clock::time_point first_byte{};
    std::optional<steady_clock::time_point> due{};
    std::string answer{};
};

WebhookReceiver::WebhookReceiver(Answering answering)
    : answering_{std::move(answering)}, listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    if (listener_ < 0 || ::bind(listener_, plain, size) != 0 || ::listen(listener_, 512) != 0 ||
        ::getsockname(listener_, plain, &size) != 0) {
        throw std::runtime_error{"the receiver cannot listen"};
    }
    port_ = ntohs(address.sin_port);
    runner_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

WebhookReceiver::~WebhookReceiver() {
    runner_.request_stop();
    runner_.join();
    for (const auto& peer : peers_) {
        ::close(peer->socket);
    }
    ::close(listener_);
}

std::string WebhookReceiver::url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
}

std::vector<Arrival> WebhookReceiver::arrivals() const {
    const std::lock_guard lock{mutex_};
    return arrivals_;
}

bool WebhookReceiver::wait_for(std::size_t count, std::chrono::seconds patience) const {
    const auto deadline = steady_clock::now() + patience;
    while (steady_clock::now() < deadline) {
        {
            const std::lock_guard lock{mutex_};
            if (arrivals_.size() >= count) {
                return true;
            }
        }
        std::this_thread::sleep_for(milliseconds{5});
    }
    return false;
}

void WebhookReceiver::run(const std::stop_token& stop) {
    constexpr milliseconds kLook{20};
    while (!stop.stop_requested()) {
        const milliseconds wait = std::min(kLook, answer_due());
        std::vector<pollfd> files{{listener_, POLLIN, 0}};
        for (const auto& peer : peers_) {
            files.push_back({peer->socket, POLLIN, 0});
        }
        if (::poll(files.data(), files.size(), static_cast<int>(wait.count())) <= 0) {
            continue;
        }
        std::vector<std::unique_ptr<Peer>> alive;
        for (std::size_t i = 0; i < peers_.size(); ++i) {
            if (files[i + 1].revents == 0 || read_from(*peers_[i])) {
                alive.push_back(std::move(peers_[i]));
            } else {
                ::close(peers_[i]->socket);
            }
        }
        peers_ = std::move(alive);
        if (files[0].revents != 0) {
            accept_one();
        }
    }
}

void WebhookReceiver::accept_one() {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) {
        return;
    }
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    peers_.push_back(std::make_unique<Peer>(Peer{socket}));
}

bool WebhookReceiver::read_from(Peer& peer) {
    std::array<char, 65536> bytes;
    const auto read = ::recv(peer.socket, bytes.data(), bytes.size(), 0);
    if (read <= 0) {
        return false;
    }
    if (peer.unread.empty()) {
        peer.first_byte = steady_clock::now();
    }
    peer.unread.append(bytes.data(), static_cast<std::size_t>(read));
    const std::size_t end = peer.unread.find("\r\n\r\n");
    if (end == std::string::npos) {
        return true;
    }
    Arrival arrival{peer.first_byte, {}, peer.unread.substr(0, end + 2), {}};
    const std::string length = arrival.header("content-length");
    const std::size_t body = length.empty() ? 0 : std::stoul(length);
    if (peer.unread.size() < end + 4 + body) {
        return true;
    }
    arrival.body = peer.unread.substr(end + 4, body);
    peer.unread.erase(0, end + 4 + body);
    const std::size_t path = arrival.head.find(' ') + 1;
    arrival.path = arrival.head.substr(path, arrival.head.find(' ', path) - path);
    const ReceiverAnswer answer = answering_(arrival);
    if (!answer.silent) {
        peer.due = steady_clock::now() + answer.delay;
        peer.answer = "HTTP/1.1 " + std::to_string(answer.status) + " Answer\r\n" + answer.headers +
                      "Content-Length: 2\r\n\r\nok";
    }
    const std::lock_guard lock{mutex_};
    arrivals_.push_back(std::move(arrival));
    return true;
}

milliseconds WebhookReceiver::answer_due() {
    milliseconds next = milliseconds::max();
    const auto now = steady_clock::now();
    for (const auto& peer : peers_) {
        if (!peer->due) {
            continue;
        }
        if (*peer->due > now) {
            next = std::min(next, std::chrono::ceil<milliseconds>(*peer->due - now));
            continue;
        }
        peer->due.reset();
        // One that is gone is noticed when it is read from.
        static_cast<void>(::send(peer->socket, peer->answer.data(), peer->answer.size(), MSG_NOSIGNAL));
    }
    return next;
}

std::size_t most_in_a_second(const std::vector<Arrival>& arrivals) {
    std::vector<steady_clock::time_point> times;
    for (const Arrival& arrival : arrivals) {
        times.push_back(arrival.at);
    }
    std::ranges::sort(times);
    std::size_t most = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        while (times[i] - times[first] >= std::chrono::seconds{1}) {
            ++first;
        }
        most = std::max(most, i - first + 1);
    }
    return most;
}

}  // namespace sluice::test
