// The server on a real disk that is full, filled by itself or by somebody else, and with writes that fail.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/cli_process.hpp"
#include "support/raw_http.hpp"
#include "support/small_disk.hpp"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kConfig = R"({"configName":"default","maxPerWindow":100000,"windowSize":"PT4S"})";
constexpr std::size_t kDisk = 192;     // MiB.
const std::string kReserve = "64MiB";  // Of that; the default.

std::string body_of(const std::string& id) {
    return R"({"eventId":")" + id + R"(","requestedTime":"2030-06-01T12:00:00Z"})";
}
HttpAnswer assign(const CliServer& server, const std::string& id) {
    return call(server.port(), "POST", "/api/v1/slots", body_of(id));
}
std::string path_of(const std::string& id) { return "/api/v1/slots/" + id; }

// Events with ids that do not compress.
std::string batch_of(std::size_t first, std::size_t count) {
    std::string body = R"({"events":[)";
    for (std::size_t i = 0; i < count; ++i) {
        std::string id = std::to_string(first + i) + "-";
        std::uint64_t bits = (first + i + 1) * 0x9E3779B97F4A7C15ULL;
        while (id.size() < 250) {
            bits ^= bits << 13U, bits ^= bits >> 7U, bits ^= bits << 17U;
            id += static_cast<char>('a' + bits % 26);
        }
        body += (i == 0 ? "" : ",") + body_of(id);
    }
    return body + "]}";
}

class FullDisk : public testing::TestWithParam<DiskKind> {
protected:
    [[nodiscard]] std::unique_ptr<CliServer> start(const Variables& more = {}) const {
        Variables variables{{"SLUICE_STORE_RESERVE", kReserve}};
        for (const auto& [name, value] : more) {
            variables[name] = value;
        }
        return std::make_unique<CliServer>(Words{"--data", disk_ / "data", "--log-level", "warn"}, variables);
    }
    static void stop(CliServer& server) {
        server.process().signal(SIGTERM);
        const Ending ending = server.process().wait();
        EXPECT_EQ(ending.signal, 0) << server.process().errors();
        EXPECT_EQ(ending.code, 0) << server.process().errors();
    }
    void make_with(int events) {
        const auto server = start();
        ASSERT_EQ(call(server->port(), "POST", "/admin/rate-limit/config", kConfig).status, 200);
        for (int i = 0; i < events; ++i) {
            const auto answer = assign(*server, "e" + std::to_string(i));
            ASSERT_EQ(answer.status, 200);
            answers_["e" + std::to_string(i)] = answer.body;
        }
        stop(*server);
    }
    // New events until there is no room for more, and none comes back while rows in memory are sorted into
    // files, which take less.
    static void fill_by_itself(CliServer& server) {
        using std::chrono::steady_clock;
        constexpr std::chrono::seconds kStays{1};
        RawHttp http{server.port()};
        std::string last;
        auto placed = steady_clock::now();  // The last event was.
        for (std::size_t i = 0; i < 10'000 && steady_clock::now() - placed < kStays; ++i) {
            http.send(request_text("POST", "/api/v1/slots/batch", batch_of(i * 1'000, 1'000)));
            last = http.read().value().body;
            if (last.find("scheduledTime") != std::string::npos) {
                placed = steady_clock::now();
            }
        }
        ASSERT_THAT(last, HasSubstr("store_full")) << server.process().errors();
    }
    void expect_all(const CliServer& server) const {
        for (const auto& [id, body] : answers_) {
            EXPECT_EQ(assign(server, id).body, body);
        }
    }

    SmallDisk disk_{GetParam(), kDisk};
    std::map<std::string, std::string> answers_;
};

TEST_P(FullDisk, IsRefusedBeforeItIsFullWhenTheServerFillsIt) {
    make_with(5);
    auto server = start();
    ASSERT_NO_FATAL_FAILURE(fill_by_itself(*server));

    const auto refused = assign(*server, "new");
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.code(), "store_full");
    EXPECT_THAT(refused.body, HasSubstr("free some space"));
    EXPECT_FALSE(refused.header("Retry-After").empty());
    const auto ready = call(server->port(), "GET", "/readyz");
    EXPECT_EQ(ready.status, 503);
    EXPECT_EQ(ready.body, R"({"status":"down","slots":"store_full"})");
    EXPECT_THAT(call(server->port(), "GET", "/metrics").body, HasSubstr("\nsluice_store_full 1\n"));
    EXPECT_EQ(call(server->port(), "GET", path_of("e0")).status, 200);
    expect_all(*server);
    EXPECT_EQ(call(server->port(), "DELETE", path_of("e0")).status, 204);
    answers_.erase("e0");

    stop(*server);
    server = start();
    expect_all(*server);
    stop(*server);
    const auto counted = run_cli({"doctor", "--recount", "--data", disk_ / "data"});
    EXPECT_THAT(counted.out, HasSubstr("FAIL  disk: ")) << counted.errors;
    EXPECT_THAT(counted.out, HasSubstr("ok    checksums: "));
    EXPECT_THAT(counted.out, HasSubstr("ok    recount: "));
}

// What stands in the log only must be sorted in yet, and is counted beside the reserve.
TEST_P(FullDisk, IsRefusedBeforeItIsFullHoweverSmallTheReserveIs) {
    make_with(5);
    const Variables hardly_any{{"SLUICE_STORE_RESERVE", "1"}};
    auto server = start(hardly_any);
    ASSERT_NO_FATAL_FAILURE(fill_by_itself(*server));

    EXPECT_EQ(assign(*server, "new").code(), "store_full");
    EXPECT_EQ(call(server->port(), "DELETE", path_of("e0")).status, 204);
    answers_.erase("e0");
    expect_all(*server);
    stop(*server);
    EXPECT_THAT(server->process().errors(), Not(HasSubstr("No space left")));

    server = start(hardly_any);
    expect_all(*server);
    EXPECT_EQ(call(server->port(), "DELETE", path_of("e1")).status, 204);
    stop(*server);
}

TEST_P(FullDisk, IsReadAndGoesOnByItselfWhenSomebodyElseFilledIt) {
    make_with(5);
    const auto server = start();

    disk_.fill();

    EXPECT_EQ(assign(*server, "new").code(), "store_full");
    EXPECT_EQ(call(server->port(), "DELETE", path_of("e1")).code(), "store_full");
    EXPECT_EQ(call(server->port(), "GET", path_of("e1")).status, 200);
    expect_all(*server);

    disk_.free();

    EXPECT_EQ(assign(*server, "new").status, 200);
    EXPECT_EQ(call(server->port(), "GET", "/readyz").status, 200);
    expect_all(*server);
    stop(*server);
}

TEST_P(FullDisk, EndsNeitherTheServerNorDoctorByASignalAndLosesNothing) {
    make_with(5);
    {
        const auto server = start();
        const auto answer = assign(*server, "late");
        ASSERT_EQ(answer.status, 200);
        answers_["late"] = answer.body;
        disk_.fill();
        stop(*server);
    }

    const auto started = run_cli({"serve", "--listen", "127.0.0.1:x", "--data", disk_ / "data"});
    EXPECT_EQ(started.ending.signal, 0);
    CliProcess again{{"serve", "--listen", "127.0.0.1:0", "--data", disk_ / "data"}};
    if (again.wait_for_error_text("Sluice is ready")) {
        again.signal(SIGTERM);
    }
    EXPECT_EQ(again.wait().signal, 0) << again.errors();
    const auto looked = run_cli({"doctor", "--recount", "--data", disk_ / "data"});
    EXPECT_EQ(looked.ending.signal, 0) << looked.errors;
    EXPECT_THAT(looked.out, Not(HasSubstr("newer")));

    disk_.free();
    const auto server = start();
    expect_all(*server);
    stop(*server);
}

INSTANTIATE_TEST_SUITE_P(OnEach, FullDisk, testing::Values(DiskKind::Tmpfs, DiskKind::Ext4),
                         [](const auto& one) { return one.param == DiskKind::Tmpfs ? "Tmpfs" : "Ext4"; });

// One write or sync of the whole server fails, or all from one on: every one in turn.
class FailingWrites : public testing::TestWithParam<int> {};

TEST_P(FailingWrites, EndNeitherTheServerByASignalNorWhatItAnswered) {
    constexpr int kCalls = 24;
    for (int nth = 1; nth <= kCalls && !HasFailure(); ++nth) {
        SCOPED_TRACE("call " + std::to_string(nth) + " fails");
        const TempFolder folder;
        std::map<std::string, std::string> answers;
        const Words words{"--data", folder / "data", "--log-level", "warn"};
        {
            CliProcess server{{"serve", "--listen", "127.0.0.1:0", "--data", folder / "data"},
                              {{"LD_PRELOAD", SLUICE_FAILING_WRITES},
                               {"FAIL_BELOW", folder / "data"},
                               {"FAIL_FROM", std::to_string(nth)},
                               {"FAIL_ONCE", nth % 2 == 0 ? "1" : "0"},
                               {"FAIL_ERROR", std::to_string(GetParam())}}};
            const std::string ready = "Sluice is ready on http://127.0.0.1:";
            if (server.wait_for_error_text(ready)) {
                const std::string errors = server.errors();
                const auto port =
                    static_cast<std::uint16_t>(std::stoul(errors.substr(errors.find(ready) + ready.size())));
                static_cast<void>(call(port, "POST", "/admin/rate-limit/config", kConfig));
                for (int i = 0; i < 6; ++i) {
                    const std::string id = "e" + std::to_string(i);
                    const auto answer = call(port, "POST", "/api/v1/slots", body_of(id));
                    if (answer.status == 200) {
                        answers[id] = answer.body;
                    }
                    static_cast<void>(call(port, "GET", "/readyz"));
                }
                server.signal(SIGTERM);
            }
            ASSERT_EQ(server.wait().signal, 0) << server.errors();
        }
        const CliServer server{words};
        for (const auto& [id, body] : answers) {
            EXPECT_EQ(assign(server, id).body, body);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(OfEachKind, FailingWrites, testing::Values(EIO, ENOSPC),
                         [](const auto& one) { return one.param == EIO ? "Eio" : "Enospc"; });

}  // namespace
}  // namespace sluice::test
