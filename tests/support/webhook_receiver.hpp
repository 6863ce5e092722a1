#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace sluice::test {

// A webhook as it came in.
struct Arrival {
    std::chrono::steady_clock::time_point at;  // Of its first byte, by the receiver's clock.
    std::string path;
    std::string head;  // Request line and headers.
    std::string body;

    // The value of a header, whatever its case. Empty when absent.
    [[nodiscard]] std::string header(std::string_view name) const;
    [[nodiscard]] std::string event() const { return header("idempotency-key"); }
};

// What a receiver answers.
struct ReceiverAnswer {
    int status = 200;
    std::string headers{};  // Lines that end with CR LF.
    std::chrono::milliseconds delay{0};
    bool silent = false;  // Reads the request and never answers.
};

// A small HTTP/1.1 server on a free port of 127.0.0.1 that notes what arrives and answers as it is told. One
// thread serves all connections, so that the times it notes are in order.
class WebhookReceiver {
public:
    using Answering = std::function<ReceiverAnswer(const Arrival&)>;

    explicit WebhookReceiver(Answering answering = [](const Arrival&) { return ReceiverAnswer{}; });
    ~WebhookReceiver();
    WebhookReceiver(const WebhookReceiver&) = delete;
    WebhookReceiver& operator=(const WebhookReceiver&) = delete;

    [[nodiscard]] std::string url(const std::string& path = "/") const;
    [[nodiscard]] std::vector<Arrival> arrivals() const;
    // True when so many have arrived before the patience is over.
    [[nodiscard]] bool wait_for(std::size_t count, std::chrono::seconds patience) const;

private:
    struct Peer;

    void run(const std::stop_token& stop);
    void accept_one();
    // False: the peer is gone.
    bool read_from(Peer& peer);
    // Answers what is due; how long until the next is.
    std::chrono::milliseconds answer_due();

    const Answering answering_;
    int listener_;
    std::uint16_t port_ = 0;
    mutable std::mutex mutex_;
    std::vector<Arrival> arrivals_;  // Guarded by mutex_.
    std::vector<std::unique_ptr<Peer>> peers_;
    std::jthread runner_;  // Last: it uses all the rest.
};

// The largest number of arrivals in any second, wherever it begins.
std::size_t most_in_a_second(const std::vector<Arrival>& arrivals);

}  // namespace sluice::test
