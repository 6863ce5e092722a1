#include "support/scripted_server.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <stdexcept>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice::test {

ScriptedPeer::~ScriptedPeer() {
    if (session_ != nullptr) {
        SSL_free(session_);
    }
    ::close(socket_);
}

std::size_t ScriptedPeer::receive(char* into, std::size_t size) {
    if (session_ != nullptr) {
        std::size_t read = 0;
        return SSL_read_ex(session_, into, size, &read) == 1 ? read : 0;
    }
    const auto read = ::recv(socket_, into, size, 0);
    return read > 0 ? static_cast<std::size_t>(read) : 0;
}

std::string ScriptedPeer::request() {
    std::size_t wanted = std::string::npos;
    while (unread_.size() < wanted) {
        std::array<char, 4096> piece{};
        if (const std::size_t end = unread_.find("\r\n\r\n"); end != std::string::npos) {
            const std::size_t length = unread_.find("Content-Length: ");
            wanted = end + 4 + (length < end ? std::stoul(unread_.substr(length + 16)) : 0);
            if (unread_.size() >= wanted) {
                break;
            }
        }
        const std::size_t read = receive(piece.data(), piece.size());
        if (read == 0) {
            return {};
        }
        unread_.append(piece.data(), read);
    }
    std::string whole = unread_.substr(0, wanted);
    unread_.erase(0, wanted);
    return whole;
}

void ScriptedPeer::send(std::string_view bytes) {
    while (!bytes.empty()) {
        std::size_t sent = 0;
        if (session_ != nullptr) {
            SSL_write_ex(session_, bytes.data(), bytes.size(), &sent);
        } else {
            sent = static_cast<std::size_t>(
                std::max<ssize_t>(0, ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL)));
        }
        if (sent == 0) {
            return;
        }
        bytes.remove_prefix(sent);
    }
}

void ScriptedPeer::say_goodbye() { SSL_shutdown(session_); }

void ScriptedPeer::wait_for_end() {
    std::array<char, 4096> piece{};
    while (receive(piece.data(), piece.size()) > 0) {
    }
}

void ScriptedPeer::reset() {
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

ScriptedServer::ScriptedServer(std::vector<Line> script, const std::string& certificate,
                               const std::string& key)
    : listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    std::signal(SIGPIPE, SIG_IGN);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, generic, &size) != 0) {
        throw std::runtime_error{"cannot listen"};
    }
    port_ = ntohs(address.sin_port);
    if (!certificate.empty()) {
        context_ = SSL_CTX_new(TLS_server_method());
        if (SSL_CTX_use_certificate_chain_file(context_, certificate.c_str()) != 1 ||
            SSL_CTX_use_PrivateKey_file(context_, key.c_str(), SSL_FILETYPE_PEM) != 1) {
            throw std::runtime_error{"no certificate"};
        }
    }
    runner_ = std::jthread{[this, lines = std::move(script)] { run(lines); }};
}

ScriptedServer::~ScriptedServer() {
    ::shutdown(listener_, SHUT_RDWR);
    runner_ = {};
    peers_.clear();
    ::close(listener_);
    SSL_CTX_free(context_);
}

void ScriptedServer::run(std::vector<Line> script) {
    for (Line& line : script) {
        const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket < 0) {
            return;
        }
        ++accepted_;
        const timeval patience{10, 0};
        ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        peers_.emplace_back([this, socket, act = std::move(line)] {
            serve(socket, act);
            ++closed_;
        });
    }
}

void ScriptedServer::serve(int socket, const Line& line) const {
    SSL* const session = context_ == nullptr ? nullptr : SSL_new(context_);
    ScriptedPeer peer{socket, session};
    if (session != nullptr) {
        SSL_set_fd(session, socket);
        if (SSL_accept(session) != 1) {
            return;
        }
    }
    line(peer);
}

}  // namespace sluice::test
