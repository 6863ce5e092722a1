#include "support/dispatch_site.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "support/raw_http.hpp"

namespace sluice::test {
namespace {

std::string payload_of(const std::string& id) { return R"({"of": ")" + id + R"(",  "amount": 12.50})"; }

}  // namespace

DispatchSite::DispatchSite(Kept kept) : nodes_(kept == Kept::Embedded ? 1 : 2) {
    if (kept == Kept::Embedded) {
        folder_.emplace();
    } else {
        database_ = std::make_unique<FreshDatabase>();
    }
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
        start(node);
    }
}

void DispatchSite::start(std::size_t node) {
    const Words store = folder_ ? Words{"--data", *folder_ / "data"} : Words{"--store", database_->dsn()};
    Words words = store;
    words.insert(words.end(), {"--log-level", "warn"});
    nodes_.at(node).emplace(words, Variables{{"SLUICE_DISPATCH_WEBHOOK_TIMEOUT", "1s"}});
}

void DispatchSite::kill(std::size_t node) {
    CliProcess& process = nodes_.at(node)->process();
    process.signal(SIGKILL);
    process.wait();
}

void DispatchSite::stop(std::size_t node) {
    CliProcess& process = nodes_.at(node)->process();
    process.signal(SIGTERM);
    EXPECT_EQ(process.wait().code, 0) << process.errors();
}

void DispatchSite::must(std::string_view method, std::string_view path, const std::string& body) const {
    const HttpAnswer answer = call(port(), method, path, body);
    ASSERT_EQ(answer.status, 200) << answer.body;
}

void DispatchSite::set_config(const std::string& more) const {
    must("POST", "/admin/rate-limit/config",
         R"({"configName":"default","maxPerWindow":1000000,"windowSize":"PT4S","past":"now")" + more + "}");
}

void DispatchSite::hand_over(std::size_t first, std::size_t count, const std::string& url) const {
    std::string body = R"({"requestedTime":"2026-01-01T00:00:00Z","events":[)";
    for (std::size_t i = first; i < first + count; ++i) {
        const std::string id = "event-" + std::to_string(i);
        body += std::string{i == first ? "" : ","} + R"({"eventId":")" + id +
                R"(","target":{"type":"webhook","url":")" + url + R"("},"payload":)" + payload_of(id) + "}";
    }
    const HttpAnswer answer = call(port(), "POST", "/api/v1/slots/batch", body + "]}");
    ASSERT_EQ(answer.status, 200) << answer.body;
    ASSERT_EQ(answer.body.find("\"error\""), std::string::npos) << answer.body.substr(0, 500);
}

std::string DispatchSite::story(const std::string& event) const {
    return call(port(), "GET", "/api/v1/slots/" + event).body;
}

std::set<std::string> distinct(const std::vector<Arrival>& arrivals) {
    std::set<std::string> ids;
    for (const Arrival& arrival : arrivals) {
        ids.insert(arrival.event());
    }
    return ids;
}

void expect_whole(const std::vector<Arrival>& arrivals, std::size_t count) {
    EXPECT_EQ(distinct(arrivals).size(), count);
    for (const Arrival& arrival : arrivals) {
        ASSERT_EQ(arrival.body, payload_of(arrival.event()));
    }
}

bool wait_for_all(const WebhookReceiver& receiver, std::size_t count, std::chrono::seconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (distinct(receiver.arrivals()).size() < count) {
        if (std::chrono::steady_clock::now() > deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    return true;
}

}  // namespace sluice::test
