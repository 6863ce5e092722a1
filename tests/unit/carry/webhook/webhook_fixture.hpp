#pragma once

#include <future>
#include <map>
#include <mutex>

#include <gtest/gtest.h>

#include "carry/webhook/webhook_carrier.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/scripted_server.hpp"

namespace sluice::test {

inline std::string http_answer(const std::string& status, const std::string& headers = {},
                               const std::string& body = {}) {
    return "HTTP/1.1 " + status + "\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

// Requests as a server saw them, one behind the other.
// Thread safety: all of it.
class SeenRequests {
public:
    // Answers every request of a connection.
    ScriptedServer::Line answer_all(const std::string& bytes) {
        return [this, bytes](ScriptedPeer& peer) {
            for (std::string request = peer.request(); !request.empty(); request = peer.request()) {
                add(request);
                peer.send(bytes);
            }
        };
    }

    void add(const std::string& request) {
        const std::lock_guard lock{mutex_};
        seen_.push_back(request);
    }

    [[nodiscard]] std::vector<std::string> all() const {
        const std::lock_guard lock{mutex_};
        return seen_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> seen_;  // Guarded by mutex_.
};

// The value of a header of a request; "(none)" if it has none.
inline std::string header_of(const std::string& request, const std::string& name) {
    const std::size_t begin = request.find("\r\n" + name + ": ");
    if (begin == std::string::npos || begin > request.find("\r\n\r\n")) {
        return "(none)";
    }
    const std::size_t value = begin + name.size() + 4;
    return request.substr(value, request.find("\r\n", value) - value);
}

inline std::string body_of(const std::string& request) {
    return request.substr(request.find("\r\n\r\n") + 4);
}

// A carrier that may call this machine, with files that a test writes.
class WebhookTest : public ::testing::Test {
protected:
    WebhookTest() {
        options_.allow_loopback = true;
        options_.read_file = [this](const std::string& path) -> Result<std::string, std::string> {
            const auto found = files_.find(path);
            if (found == files_.end()) {
                return Unexpected{std::string{"No such file"}};
            }
            return found->second;
        };
    }

    ScriptedServer& serve(std::vector<ScriptedServer::Line> script) {
        server_ = std::make_unique<ScriptedServer>(std::move(script));
        return *server_;
    }

    WebhookCarrier& carrier() {
        if (!carrier_) {
            carrier_ = open_webhook_carrier(options_, log_, clock_).value();
        }
        return *carrier_;
    }

    static Parcel parcel(const std::string& url, const std::string& payload = "{}",
                         const std::string& event = "event") {
        return {*EventId::make(event), {.target = {TargetKind::Webhook, url}, .payload = payload}};
    }

    static std::string url_of(const ScriptedServer& server, const std::string& path = "/hook") {
        return "http://127.0.0.1:" + std::to_string(server.port()) + path;
    }

    std::future<Delivery> begin(
        Parcel parcel, Carrier::MayWrite may_write = [] { return true; }) {
        std::promise<Delivery> told;
        auto delivery = told.get_future();
        carrier().send(
            std::move(parcel), std::move(may_write),
            [told = std::move(told)](Delivery ended) mutable { told.set_value(std::move(ended)); });
        return delivery;
    }

    Delivery send(Parcel parcel) { return begin(std::move(parcel)).get(); }

    std::map<std::string, std::string> files_;
    WebhookOptions options_;
    RecordingLog log_;
    HandClock clock_{Instant{std::chrono::seconds{1'748'779'200}}};
    SeenRequests seen_;
    std::unique_ptr<ScriptedServer> server_;
    std::unique_ptr<WebhookCarrier>
        carrier_;  // Made at first use. Goes first, so that no server waits for it.
};

}  // namespace sluice::test
