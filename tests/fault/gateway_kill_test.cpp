// The server is killed with -9 while clients send, again and again: every message that was acknowledged is
// sent, retries are neither sent nor counted anew, and no window counts less than was sent.
#include <atomic>
#include <csignal>
#include <map>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "support/cli_process.hpp"
#include "support/raw_http.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

constexpr int kKills = 25;
constexpr int kClients = 4;
constexpr int kUsers = 3;

std::string text_of(const std::string& name) { return "text-of-" + name + "-"; }

std::string send_text(const std::string& name, int user) {
    return request_text("POST", "/api/send",
                        R"({"userId":)" + std::to_string(user) + R"(,"message":")" + text_of(name) +
                            R"(","requestId":")" + name + "\"}");
}

// A client sends one message after the other; one whose answer was lost is sent again under its name.
struct Client {
    std::string name;
    int user;
    int next = 0;
    std::map<std::string, std::string> acknowledged{};  // The id of each message by its name.
    std::string changed{};

    void load(std::uint16_t port, std::atomic<int>& answered) {
        try {
            RawHttp http{port};
            for (;; ++next) {
                // Now and then an old one.
                const std::string one = name + "-" + std::to_string(next % 10 == 9 ? next - 9 : next);
                http.send(send_text(one, user));
                const auto answer = http.read();
                if (!answer) {
                    return;
                }
                if (answer->status != 200) {
                    changed = one + " got " + std::to_string(answer->status);
                    return;
                }
                const auto [known, fresh] = acknowledged.emplace(one, answer->header("Message-Id"));
                if (!fresh && known->second != answer->header("Message-Id")) {
                    changed = one + " became another message";
                }
                ++answered;
            }
        } catch (const std::runtime_error&) {
            return;  // The server was killed.
        }
    }
};

std::size_t times_in(const std::string& text, const std::string& words) {
    std::size_t times = 0;
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
        ++times;
    }
    return times;
}

// The number behind a name in a JSON object.
int number_in(const std::string& json, const std::string& name) {
    const auto place = json.find("\"" + name + "\":");
    return place == std::string::npos ? -1 : std::stoi(json.substr(place + name.size() + 3));
}

bool is_settled(std::uint16_t port, const std::string& id) {
    return call(port, "GET", "/api/messages/" + id).body.find(R"("state":"sent")") != std::string::npos;
}

TEST(GatewayUnderKills, SendsEverythingThatItAcknowledged) {
    const TempFolder folder;
    const Words words{"--data", folder / "data", "--log-level", "warn"};
    const auto seed = std::random_device{}();
    std::mt19937 random{seed};
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<Client> clients;
    for (int i = 0; i < kClients; ++i) {
        clients.push_back({"c" + std::to_string(i), i % kUsers});
    }
    std::string lines;

    for (int kill = 0; kill < kKills; ++kill) {
        CliServer server{words};
        for (int user = 0; kill == 0 && user < kUsers; ++user) {
            ASSERT_EQ(
                call(server.port(), "POST", "/api/config",
                     R"({"userId":)" + std::to_string(user) + R"(,"rateLimit":1000000,"timeWindow":100000})")
                    .status,
                200);
        }
        std::atomic<int> answered = 0;
        {
            std::vector<std::jthread> threads;
            for (Client& client : clients) {
                threads.emplace_back([&] { client.load(server.port(), answered); });
            }
            const int wanted = 20 + static_cast<int>(random() % 200);
            while (answered < wanted) {
                std::this_thread::yield();
            }
            server.process().signal(SIGKILL);
            EXPECT_EQ(server.process().wait().signal, SIGKILL);
        }
        lines += server.process().errors();
    }

    CliServer server{words};
    std::map<int, int> sent;
    for (const Client& client : clients) {
        EXPECT_EQ(client.changed, "");
        for (const auto& [name, id] : client.acknowledged) {
            const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds{20};
            while (!is_settled(server.port(), id) && std::chrono::steady_clock::now() < patience) {
                std::this_thread::yield();
            }
            ASSERT_TRUE(is_settled(server.port(), id)) << name;
        }
        sent[client.user] += static_cast<int>(client.acknowledged.size());
    }
    for (const auto& [user, count] : sent) {
        const auto told = call(server.port(), "GET", "/api/config/" + std::to_string(user)).body;
        EXPECT_GE(number_in(told, "currentCount"), count);
        // The last message of each client may have been stored without an answer.
        EXPECT_LE(number_in(told, "currentCount"), count + kClients);
    }
    server.process().signal(SIGTERM);
    EXPECT_EQ(server.process().wait().code, 0);
    lines += server.process().errors();
    std::size_t twice = 0;
    for (const Client& client : clients) {
        for (const auto& [name, id] : client.acknowledged) {
            const std::size_t times =
                times_in(lines, "SMS Sent: " + std::to_string(client.user) + ": " + text_of(name));
            EXPECT_GE(times, 1U) << name;
            twice += times > 1 ? 1 : 0;
        }
    }
    // What was sent and not closed yet when a kill came: at most one batch of the sender each time.
    EXPECT_LE(twice, std::size_t{kKills} * 256);
}

}  // namespace
}  // namespace sluice::test
