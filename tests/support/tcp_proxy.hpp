#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sluice::test {

// A network that fails on demand, between a client and a real server on this machine.
// Thread safety: all of it.
class TcpProxy {
public:
    // Listens on a free port.
    explicit TcpProxy(std::uint16_t server_port);
    ~TcpProxy();
    TcpProxy(const TcpProxy&) = delete;
    TcpProxy& operator=(const TcpProxy&) = delete;

    [[nodiscard]] std::uint16_t port() const { return port_; }

    // Cuts the connection on which the client sends `text`, once: before the server sees it, or when the
    // server has answered it, which the client does not see.
    void cut_before(const std::string& text);
    void cut_after(const std::string& text);

    // Nothing gets through, and nobody is told.
    void freeze();
    void thaw();

    // Refuses and cuts every connection, and takes them again.
    void down();
    void up();

    // How many connections were asked for so far.
    [[nodiscard]] int accepted() const;

private:
    struct Pair {
        int client = -1;
        int server = -1;
        bool cut_at_answer = false;
    };
    enum class Cut { None, Before, After };

    void serve(const std::stop_token& stop);
    void accept_one();
    // Both return false when the pair is at its end.
    bool from_client(Pair& pair);
    bool from_server(Pair& pair);
    void listen();
    void change();  // After anything that serve() looks at, with mutex_ held.

    const std::uint16_t server_port_;
    std::uint16_t port_ = 0;
    const int wake_;
    mutable std::mutex mutex_;
    int listener_ = -1;  // Guarded by mutex_, like all below.
    std::vector<Pair> pairs_;
    int changes_ = 0;
    int accepted_ = 0;
    bool frozen_ = false;
    Cut cut_ = Cut::None;
    std::string cut_at_;
    std::jthread thread_;
};

}  // namespace sluice::test
