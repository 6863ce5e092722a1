#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <openssl/ssl.h>

namespace sluice::test {

// A client as a scripted server sees it. Every wait ends after ten seconds.
class ScriptedPeer {
public:
    ScriptedPeer(int socket, SSL* session) : socket_{socket}, session_{session} {}
    ~ScriptedPeer();
    ScriptedPeer(const ScriptedPeer&) = delete;
    ScriptedPeer& operator=(const ScriptedPeer&) = delete;

    // The next request, head and body. Empty: the client is gone.
    std::string request();
    void send(std::string_view bytes);
    // Over TLS: says that nothing more comes.
    void say_goodbye();
    // Waits until the client closes.
    void wait_for_end();
    // Ends the connection by a reset.
    void reset();

private:
    std::size_t receive(char* into, std::size_t size);

    int socket_;
    SSL* session_;  // Null: plain.
    std::string unread_;
};

// A server that does with each connection what the next line of its script says, on a free port of 127.0.0.1.
// With a certificate and key (files) it speaks TLS.
class ScriptedServer {
public:
    using Line = std::function<void(ScriptedPeer&)>;

    explicit ScriptedServer(std::vector<Line> script, const std::string& certificate = {},
                            const std::string& key = {});
    ~ScriptedServer();
    ScriptedServer(const ScriptedServer&) = delete;
    ScriptedServer& operator=(const ScriptedServer&) = delete;

    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::size_t accepted() const { return accepted_; }
    // Connections that it has closed.
    [[nodiscard]] std::size_t closed() const { return closed_; }

private:
    void run(std::vector<Line> script);
    void serve(int socket, const Line& line) const;

    int listener_;
    SSL_CTX* context_ = nullptr;
    std::uint16_t port_ = 0;
    std::atomic<std::size_t> accepted_ = 0;
    std::atomic<std::size_t> closed_ = 0;
    std::vector<std::jthread> peers_;  // Touched by runner_ alone until it has ended.
    std::jthread runner_;
};

}  // namespace sluice::test
