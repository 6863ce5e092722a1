// The server is killed with -9 under load, a hundred times, and started again on the same data each time.
#include <atomic>
#include <csignal>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "app/slots/slot_ledger.hpp"
#include "support/cli_process.hpp"
#include "support/raw_http.hpp"
#include "support/rocks_tables.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

constexpr int kKills = 100;
constexpr int kClients = 8;
constexpr std::string_view kConfig = R"({"configName":"default","maxPerWindow":100,"windowSize":"PT4S"})";

std::string assign_text(const std::string& id) {
    return request_text("POST", "/api/v1/slots",
                        R"({"eventId":")" + id + R"(","requestedTime":"2030-06-01T12:00:00Z"})");
}

// Every answer that any server of this test has acknowledged, by event.
class Acknowledged {
public:
    void keep(const std::string& id, const std::string& answer) {
        const std::lock_guard lock{mutex_};
        const auto [known, fresh] = answers_.emplace(id, answer);
        if (!fresh && known->second != answer) {
            changed_.push_back(known->second + " became " + answer);
        }
    }
    std::map<std::string, std::string> answers() const {
        const std::lock_guard lock{mutex_};
        return answers_;
    }
    std::vector<std::string> changed() const {
        const std::lock_guard lock{mutex_};
        return changed_;
    }

private:
    mutable std::mutex mutex_;
    std::map<std::string, std::string> answers_;  // Guarded by mutex_.
    std::vector<std::string> changed_;            // Guarded by mutex_.
};

// Sends new events, and now and then an old one, until the server is gone.
void load(std::uint16_t port, const std::string& name, Acknowledged& acknowledged,
          std::atomic<int>& answered) {
    try {
        RawHttp http{port};
        for (int i = 0;; ++i) {
            const std::string id = name + "-" + std::to_string(i % 10 == 9 ? i - 9 : i);
            http.send(assign_text(id));
            const auto answer = http.read();
            if (!answer) {
                return;
            }
            if (answer->status == 200) {
                acknowledged.keep(id, answer->body);
                ++answered;
            }
        }
    } catch (const std::runtime_error&) {
        return;  // The server was killed.
    }
}

TEST(KillNine, AHundredTimesUnderLoadLosesNothingThatWasAcknowledged) {
    const TempFolder folder;
    const std::string data = folder / "data";
    Acknowledged acknowledged;
    const auto seed = std::random_device{}();
    std::mt19937 random{seed};
    SCOPED_TRACE("seed " + std::to_string(seed));

    for (int kill = 0; kill < kKills; ++kill) {
        CliServer server{{"--data", data, "--log-level", "warn"}};
        if (kill == 0) {
            ASSERT_EQ(call(server.port(), "POST", "/admin/rate-limit/config", kConfig).status, 200);
        }
        std::atomic<int> answered = 0;
        std::vector<std::jthread> clients;
        for (int i = 0; i < kClients; ++i) {
            const std::string name = "k" + std::to_string(kill) + "c" + std::to_string(i);
            clients.emplace_back(
                [&, name, port = server.port()] { load(port, name, acknowledged, answered); });
        }
        // The instant differs from kill to kill, and so does what is under way then.
        const int wanted = 50 + static_cast<int>(random() % 400);
        while (answered < wanted) {
            std::this_thread::yield();
        }
        server.process().signal(SIGKILL);
        EXPECT_EQ(server.process().wait().signal, SIGKILL);
    }

    EXPECT_TRUE(acknowledged.changed().empty()) << acknowledged.changed().front();
    {
        CliServer server{{"--data", data, "--log-level", "warn"}};
        RawHttp http{server.port()};
        for (const auto& [id, answer] : acknowledged.answers()) {
            http.send(assign_text(id));
            ASSERT_EQ(http.read().value().body, answer);
        }
        server.process().signal(SIGTERM);
        EXPECT_EQ(server.process().wait().code, 0);
    }
    const auto tables = open_rocks_tables({data});
    ASSERT_TRUE(tables);
    const auto report = recount(**tables);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->differences.empty()) << report->differences.front();
    EXPECT_GE(report->slots, acknowledged.answers().size());
}

}  // namespace
}  // namespace sluice::test
