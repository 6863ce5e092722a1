// The daemon sends works to a receiver that notes by its own clock what arrives. It is killed, frozen and
// started again meanwhile. SLUICE_DISPATCH_EVENTS and SLUICE_DISPATCH_BLOWS make the tests longer
// (tools/torture dispatch).
#include <csignal>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "support/cli_process.hpp"
#include "support/raw_http.hpp"
#include "support/temp_folder.hpp"
#include "support/webhook_receiver.hpp"

namespace sluice::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr std::size_t kRate = 50;

std::size_t number_from(const char* variable, std::size_t usual) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? usual : std::stoul(text);
}

std::size_t events() { return number_from("SLUICE_DISPATCH_EVENTS", 600); }

std::string payload_of(const std::string& id) { return R"({"of": ")" + id + R"(",  "amount": 12.50})"; }

// A daemon on a folder that outlives it.
class Node {
public:
    explicit Node(std::string data) : data_{std::move(data)} { start(); }

    void start() {
        server_.emplace(Words{"--data", data_, "--log-level", "warn"},
                        Variables{{"SLUICE_DISPATCH_WEBHOOK_TIMEOUT", "1s"}});
    }
    void kill() {
        server_->process().signal(SIGKILL);
        server_->process().wait();
    }
    void stop() {
        server_->process().signal(SIGTERM);
        EXPECT_EQ(server_->process().wait().code, 0) << server_->process().errors();
    }
    CliProcess& process() { return server_->process(); }
    [[nodiscard]] std::uint16_t port() const { return server_->port(); }

    void must(std::string_view method, std::string_view path, const std::string& body) const {
        const HttpAnswer answer = call(port(), method, path, body);
        ASSERT_EQ(answer.status, 200) << answer.body;
    }

private:
    std::string data_;
    std::optional<CliServer> server_;
};

// Events `first` to `first + count`, all wanted now, to the URL.
void hand_over(const Node& node, std::size_t first, std::size_t count, const std::string& url) {
    std::string body = R"({"requestedTime":"2026-01-01T00:00:00Z","events":[)";
    for (std::size_t i = first; i < first + count; ++i) {
        const std::string id = "event-" + std::to_string(i);
        body += std::string{i == first ? "" : ","} + R"({"eventId":")" + id +
                R"(","target":{"type":"webhook","url":")" + url + R"("},"payload":)" + payload_of(id) + "}";
    }
    const HttpAnswer answer = call(node.port(), "POST", "/api/v1/slots/batch", body + "]}");
    ASSERT_EQ(answer.status, 200) << answer.body;
    ASSERT_EQ(answer.body.find("\"error\""), std::string::npos) << answer.body.substr(0, 500);
}

void set_config(const Node& node, const std::string& more) {
    node.must(
        "POST", "/admin/rate-limit/config",
        R"({"configName":"default","maxPerWindow":1000000,"windowSize":"PT4S","past":"now")" + more + "}");
}

std::set<std::string> distinct(const std::vector<Arrival>& arrivals) {
    std::set<std::string> ids;
    for (const Arrival& arrival : arrivals) {
        ids.insert(arrival.event());
    }
    return ids;
}

// Every event has arrived, each time with the bytes that were handed over.
void expect_whole(const std::vector<Arrival>& arrivals, std::size_t count) {
    EXPECT_EQ(distinct(arrivals).size(), count);
    for (const Arrival& arrival : arrivals) {
        ASSERT_EQ(arrival.body, payload_of(arrival.event()));
    }
}

bool wait_for_all(const WebhookReceiver& receiver, std::size_t count, seconds patience) {
    const auto deadline = steady_clock::now() + patience;
    while (distinct(receiver.arrivals()).size() < count) {
        if (steady_clock::now() > deadline) {
            return false;
        }
        std::this_thread::sleep_for(milliseconds{20});
    }
    return true;
}

TEST(Dispatch, UsesAllOfItsRateAndNoSlidingSecondSeesMore) {
    const TempFolder folder;
    const WebhookReceiver receiver;
    const Node node{folder / "data"};
    set_config(node, R"(,"maxPerSecond":50)");

    hand_over(node, 0, events(), receiver.url("/pay"));

    ASSERT_TRUE(receiver.wait_for(events(), seconds{60 + static_cast<int>(events() / kRate)}));
    const auto arrivals = receiver.arrivals();
    EXPECT_EQ(arrivals.size(), events());
    expect_whole(arrivals, events());
    EXPECT_LE(most_in_a_second(arrivals), kRate);
    const std::chrono::duration<double> took = arrivals.back().at - arrivals.front().at;
    const double rate = static_cast<double>(events() - 1) / took.count();
    RecordProperty("rate", std::to_string(rate));
    EXPECT_GE(rate, 0.97 * kRate);
}

TEST(Dispatch, HoldsItsRateAndLosesNothingAcrossKills) {
    const std::size_t blows = number_from("SLUICE_DISPATCH_BLOWS", 4);
    const std::size_t count = events() / 2;
    const TempFolder folder;
    const WebhookReceiver receiver{[](const Arrival&) { return ReceiverAnswer{.delay = milliseconds{20}}; }};
    Node node{folder / "data"};
    set_config(node, R"(,"maxPerSecond":50)");
    std::mt19937 random{std::random_device{}()};

    hand_over(node, 0, count, receiver.url("/pay"));
    for (std::size_t blow = 0; blow < blows; ++blow) {
        const std::size_t seen = receiver.arrivals().size();
        // A moment in which calls are under way; after a kill they keep their permits for a while.
        ASSERT_TRUE(receiver.wait_for(std::min(seen + 1 + random() % 40, count), seconds{30}));
        node.kill();
        node.start();
    }

    ASSERT_TRUE(wait_for_all(receiver, count, seconds{60 + static_cast<int>(count / kRate)}));
    const auto arrivals = receiver.arrivals();
    expect_whole(arrivals, count);
    EXPECT_LE(most_in_a_second(arrivals), kRate);
    // What arrived twice says so in its audit.
    std::map<std::string, int> times;
    for (const Arrival& arrival : arrivals) {
        ++times[arrival.event()];
    }
    for (const auto& [id, arrived] : times) {
        if (arrived > 1) {
            const std::string story = call(node.port(), "GET", "/api/v1/slots/" + id).body;
            EXPECT_NE(story.find(R"("action":"lost")"), std::string::npos) << story;
        }
    }
}

TEST(Dispatch, DoesNotCatchUpInABurstAfterItWasFrozen) {
    const std::size_t blows = number_from("SLUICE_DISPATCH_BLOWS", 6);
    const std::size_t count = events() / 2;
    const TempFolder folder;
    const WebhookReceiver receiver;
    Node node{folder / "data"};
    set_config(node, R"(,"maxPerSecond":50)");
    std::mt19937 random{std::random_device{}()};

    hand_over(node, 0, count, receiver.url("/pay"));
    for (std::size_t blow = 0; blow < blows; ++blow) {
        const std::size_t seen = receiver.arrivals().size();
        ASSERT_TRUE(receiver.wait_for(std::min(seen + 1 + random() % 30, count), seconds{30}));
        node.process().signal(SIGSTOP);
        std::this_thread::sleep_for(milliseconds{100 + random() % 1400});  // How long it is frozen.
        node.process().signal(SIGCONT);
    }

    ASSERT_TRUE(wait_for_all(receiver, count, seconds{60 + static_cast<int>(count / kRate)}));
    expect_whole(receiver.arrivals(), count);
    EXPECT_LE(most_in_a_second(receiver.arrivals()), kRate);
}

TEST(Dispatch, OneEndpointThatHangsCostsTheOthersNothing) {
    constexpr std::size_t kEndpoints = 10;
    constexpr std::size_t kEach = 200;
    const TempFolder folder;
    const WebhookReceiver receiver{[](const Arrival& arrival) {
        return ReceiverAnswer{.delay = milliseconds{1}, .silent = arrival.path == "/0"};
    }};
    const Node node{folder / "data"};
    set_config(node, "");

    for (std::size_t i = 0; i < kEndpoints; ++i) {
        hand_over(node, i * kEach, kEach, receiver.url("/" + std::to_string(i)));
    }

    // The calls that hang end after a second each: whoever waited for them would take far longer than this.
    const auto of_the_others = [&receiver] {
        std::size_t sum = 0;
        for (const Arrival& arrival : receiver.arrivals()) {
            sum += arrival.path != "/0" ? 1 : 0;
        }
        return sum;
    };
    const auto deadline = steady_clock::now() + seconds{5};
    while (of_the_others() < (kEndpoints - 1) * kEach && steady_clock::now() < deadline) {
        std::this_thread::sleep_for(milliseconds{10});
    }
    EXPECT_EQ(of_the_others(), (kEndpoints - 1) * kEach);
}

TEST(Dispatch, SendsWhatWasDueWhileTheServerWasAway) {
    const TempFolder folder;
    const WebhookReceiver receiver;
    Node node{folder / "data"};
    set_config(node, R"(,"maxPerSecond":50)");
    hand_over(node, 0, 60, receiver.url("/pay"));
    ASSERT_TRUE(receiver.wait_for(10, seconds{20}));

    node.stop();
    const std::size_t before = receiver.arrivals().size();
    node.start();

    ASSERT_TRUE(wait_for_all(receiver, 60, seconds{20}));
    EXPECT_LT(before, 60U);
    // A stop in order leaves nothing in doubt: nothing is sent twice.
    EXPECT_EQ(receiver.arrivals().size(), 60U);
    EXPECT_LE(most_in_a_second(receiver.arrivals()), kRate);
}

}  // namespace
}  // namespace sluice::test
