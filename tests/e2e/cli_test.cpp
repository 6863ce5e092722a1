#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "support/cli_process.hpp"
#include "support/raw_http.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kTime = "[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+\\.[0-9][0-9][0-9]Z";

void must_set_default_config(const CliServer& server, const Words& more = {}) {
    Words words{"config", "set", "default", "--max-per-window", "50", "--window-size", "PT4S"};
    words.insert(words.end(), more.begin(), more.end());
    const CliResult set = server.run(words);
    ASSERT_EQ(set.ending.code, 0) << set.errors;
}

void write_token(const std::string& path, const std::string& token) { std::ofstream{path} << token << "\n"; }

TEST(Serve, IsReadyKeepsItsDataToItsOwnerAndDrains) {
    const TempFolder folder;
    CliServer server{{"--data", folder / "deep/data"}};

    EXPECT_THAT(server.process().errors(), HasSubstr(", store embedded in " + (folder / "deep/data")));
    EXPECT_EQ(call(server.port(), "GET", "/readyz").status, 200);
    struct stat data {};
    ASSERT_EQ(::stat((folder / "deep/data").c_str(), &data), 0);
    EXPECT_EQ(data.st_mode & 0777U, 0700U);

    server.process().signal(SIGTERM);
    EXPECT_EQ(server.process().wait().code, 0);
    EXPECT_THAT(server.process().errors(), HasSubstr("INFO  Sluice - Stopped\n"));
}

TEST(Serve, EndsAtOnceOnTheSecondSignal) {
    CliServer server{{"--store", "memory"}};
    RawHttp stream{server.port()};
    stream.send(
        "POST /api/v1/slots/stream HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n"
        "Transfer-Encoding: chunked\r\n\r\n8\r\n{\"event");
    EXPECT_EQ(call(server.port(), "GET", "/healthz").status, 200);

    server.process().signal(SIGINT);
    ASSERT_TRUE(server.process().wait_for_error_text("Draining"));
    server.process().signal(SIGTERM);

    EXPECT_EQ(server.process().wait().signal, SIGTERM);
}

TEST(Serve, KeepsItsSlotsWhenItIsKilled) {
    const TempFolder folder;
    std::string before;
    {
        CliServer server{{"--data", folder / "data"}};
        must_set_default_config(server);
        before = server.run({"assign", "pay-1", "--output", "json"}).out;
        server.process().signal(SIGKILL);
        EXPECT_EQ(server.process().wait().signal, SIGKILL);
    }

    const CliServer again{{"--data", folder / "data"}};

    EXPECT_EQ(again.run({"assign", "pay-1", "--output", "json"}).out, before);
}

TEST(Serve, SaysInOneSentenceWhyItCannotStart) {
    const TempFolder folder;
    const CliServer server{{"--data", folder / "data"}};
    std::ofstream{folder / "file"} << "x";
    write_token(folder / "short", "too short");
    const std::string taken = "127.0.0.1:" + std::to_string(server.port());

    const auto refusal = [](const Words& words, int code) {
        Words all{"serve", "--listen", "127.0.0.1:0"};
        all.insert(all.end(), words.begin(), words.end());
        const CliResult result = run_cli(all);
        EXPECT_EQ(result.ending.code, code) << result.errors;
        EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
        return result.errors;
    };
    EXPECT_THAT(refusal({"--data", folder / "data"}, 1), HasSubstr("held by another process"));
    EXPECT_THAT(refusal({"--data", folder / "file"}, 1), HasSubstr("not a folder"));
    EXPECT_THAT(refusal({"--data", folder / "file/data"}, 1), HasSubstr("cannot be made"));
    EXPECT_THAT(refusal({"--store", "memory", "--token-file", folder / "short"}, 1), HasSubstr("32"));
    EXPECT_THAT(refusal({"--store", "memory", "--token-file", folder / "none"}, 1), HasSubstr("none"));
    EXPECT_THAT(refusal({"--store", "postgres://a:hunter2@127.0.0.1:1/x"}, 1),
                AllOf(HasSubstr("PostgreSQL cannot be reached"), Not(HasSubstr("hunter2"))));
    EXPECT_THAT(refusal({"--store", "memory", "--redis", "redis://a:hunter2@127.0.0.1:1"}, 1),
                AllOf(HasSubstr("127.0.0.1:1"), Not(HasSubstr("hunter2"))));
    EXPECT_THAT(refusal({"--temporal", "h:1"}, 2),
                HasSubstr("--temporal is not supported by this version yet"));
    EXPECT_THAT(refusal({"--lisen", "x"}, 2), HasSubstr("'--listen'"));
    EXPECT_EQ(run_cli({"serve", "--store", "memory", "--listen", taken}).ending.code, 1);
    EXPECT_EQ(run_cli({"serve"}, {{"SLUICE_DTAA", "x"}}).ending.code, 2);
}

TEST(Serve, RefusesToServeOthersWithoutAToken) {
    for (const char* address : {"0.0.0.0:0", "[::]:0"}) {
        const CliResult result = run_cli({"serve", "--store", "memory", "--listen", address});

        EXPECT_EQ(result.ending.code, 2);
        EXPECT_THAT(result.errors, HasSubstr("--token-file"));
    }
}

TEST(Serve, PrintsItsSettings) {
    const CliResult result =
        run_cli({"serve", "--print-config", "--log-level", "warn"}, {{"SLUICE_DATA", "d"}});

    EXPECT_EQ(result.ending.code, 0);
    EXPECT_THAT(result.out, ContainsRegex("\ndata: d +# SLUICE_DATA\n"));
    EXPECT_THAT(result.out, ContainsRegex("\nlogLevel: warn +# --log-level\n"));
    EXPECT_EQ(result.errors, "");
}

TEST(Serve, LogsInJsonWhenAskedTo) {
    CliServer server{{"--store", "memory", "--log-format", "json", "--log-level", "error"}};
    server.process().signal(SIGTERM);
    server.process().wait();

    EXPECT_THAT(
        server.process().errors(),
        MatchesRegex("\\{\"time\":\"" + kTime +
                     "\",\"level\":\"INFO\",\"component\":\"Sluice\",\"message\":\"Sluice is ready on "
                     "http://127.0.0.1:[0-9]+, store memory, limits in memory, dispatch on, "
                     "gateway on\"\\}\n"));
}

TEST(Serve, AsksForTheTokenAndReloadsIt) {
    const TempFolder folder;
    const std::string first(32, 'a');
    const std::string second(40, 'b');
    write_token(folder / "token", first);
    write_token(folder / "old", first);
    CliServer server{{"--store", "memory", "--token-file", folder / "token"}};

    const CliResult without = server.run({"config", "get"});
    EXPECT_EQ(without.ending.code, 1);
    EXPECT_THAT(without.errors, HasSubstr("401"));
    must_set_default_config(server, {"--token-file", folder / "token"});

    write_token(folder / "token", second);
    server.process().signal(SIGHUP);
    ASSERT_TRUE(server.process().wait_for_error_text("Reloaded the token"));
    EXPECT_EQ(server.run({"config", "get", "--token-file", folder / "old"}).ending.code, 1);
    EXPECT_EQ(server.run({"config", "get", "--token-file", folder / "token"}).ending.code, 0);

    write_token(folder / "token", "short");
    server.process().signal(SIGHUP);
    ASSERT_TRUE(server.process().wait_for_error_text("The token in force stays"));
    write_token(folder / "token", second);
    EXPECT_EQ(server.run({"config", "get", "--token-file", folder / "token"}).ending.code, 0);
    EXPECT_THAT(server.process().errors(), Not(HasSubstr(second)));
}

TEST(Client, WalksASlotThroughItsLife) {
    const CliServer server{{"--store", "memory"}};
    must_set_default_config(server);

    const CliResult assigned =
        server.run({"assign", "pay/1 \xC3\xA4", "--at", "2030-06-01T12:00:00Z", "--weight", "2"});
    EXPECT_EQ(assigned.ending.code, 0) << assigned.errors;
    EXPECT_THAT(assigned.out,
                MatchesRegex("eventId        pay/1 \xC3\xA4\nscheduledTime  2030-06-01T12:00:0[0-3]\\..*Z\n"
                             "delayMs        [0-9]+\n"));

    const CliResult moved = server.run({"slot", "move", "pay/1 \xC3\xA4", "--at", "2030-06-01T13:00:00Z"});
    EXPECT_THAT(moved.out, HasSubstr("scheduledTime  2030-06-01T13:00:0"));

    const CliResult found = server.run({"slot", "get", "pay/1 \xC3\xA4"});
    EXPECT_THAT(found.out, HasSubstr("state          assigned\n"));
    EXPECT_THAT(found.out, HasSubstr("\nhistory:\n"));

    for (int twice = 0; twice < 2; ++twice) {
        const CliResult cancelled = server.run({"slot", "cancel", "pay/1 \xC3\xA4"});
        EXPECT_EQ(cancelled.ending.code, 0);
        EXPECT_EQ(cancelled.out, "Cancelled pay/1 \xC3\xA4.\n");
    }
    const CliResult refused = server.run({"assign", "pay/1 \xC3\xA4", "--output", "json"});
    EXPECT_EQ(refused.ending.code, 1);
    EXPECT_THAT(refused.out, HasSubstr("\"code\":\"cancelled\""));
    EXPECT_THAT(refused.errors, StartsWith("sluice: The server answered 409"));
}

TEST(Client, AssignsForNowAndRespectsTheLongestDelay) {
    const CliServer server{{"--store", "memory"}};
    must_set_default_config(server);

    const CliResult result = server.run({"assign", "pay-1", "--max-delay", "PT10S", "--output", "json"});

    EXPECT_EQ(result.ending.code, 0) << result.errors;
    EXPECT_THAT(result.out, MatchesRegex("\\{\"eventId\":\"pay-1\",\"scheduledTime\":\"" + kTime +
                                         "\",\"delayMs\":[0-9]+\\}\n"));
}

TEST(Client, QuotesWithoutReserving) {
    const CliServer server{{"--store", "memory"}};
    must_set_default_config(server);

    const CliResult quoted = server.run({"quote", "--at", "2030-06-01T12:00:00Z", "--output", "json"});

    EXPECT_EQ(quoted.out, "{\"scheduledTime\":\"2030-06-01T12:00:00.000Z\",\"delayMs\":0}\n");
}

TEST(Client, ShowsConfigsAndTheirHistory) {
    const CliServer server{{"--store", "memory"}};
    must_set_default_config(server);
    must_set_default_config(server, {"--pool", "shared", "--max-lookahead", "10"});

    EXPECT_THAT(server.run({"config", "get"}).out, HasSubstr("configId       cfg-2\n"));
    EXPECT_THAT(server.run({"config", "get", "default"}).out, HasSubstr("pool           shared\n"));
    EXPECT_THAT(server.run({"config", "history"}).out, ContainsRegex("  cfg-2 .*\n  cfg-1 .*\n"));
    EXPECT_THAT(server.run({"config", "history", "--output", "json"}).out, StartsWith("{\"versions\":["));
    EXPECT_EQ(server.run({"config", "get", "none"}).ending.code, 1);
}

TEST(Client, TellsARefusalFromAWrongCommandFromAMissingServer) {
    const CliServer server{{"--store", "memory"}};

    EXPECT_EQ(server.run({"assign", "x"}).ending.code, 1);
    EXPECT_EQ(server.run({"slot", "get", "x"}).ending.code, 1);
    EXPECT_EQ(server.run({"assign", "x", "--at", "yesterday"}).ending.code, 1);
    EXPECT_EQ(server.run({"assign"}).ending.code, 2);
    EXPECT_EQ(server.run({"assign", "x", "--server", "nonsense"}).ending.code, 2);
    EXPECT_THAT(run_cli({"assign", "x"}, {{"SLUICE_SERVER", "nonsense"}}).errors,
                StartsWith("sluice: SLUICE_SERVER: 'nonsense'"));
    EXPECT_EQ(run_cli({"assign", "x", "--server", "http://127.0.0.1:1"}).ending.code, 3);
    EXPECT_EQ(run_cli({"bench", "slots", "--server", "http://127.0.0.1:1"}).ending.code, 3);
    EXPECT_EQ(run_cli({"--version"}).ending.code, 0);
}

TEST(Bench, CountsEverySlotItAskedForAndLeavesTheWindowsOfOthersAlone) {
    const CliServer server{{"--store", "memory"}};
    must_set_default_config(server);

    const CliResult result = server.run(
        {"bench", "slots", "--count", "500", "--connections", "8", "--json", "--at", "2030-01-01T09:00:00Z"});

    EXPECT_EQ(result.ending.code, 0) << result.errors;
    EXPECT_THAT(result.out, HasSubstr("\"requests\":500,\"succeeded\":500,\"errors\":0"));
    EXPECT_THAT(result.out, ContainsRegex("\"p50Ms\":[0-9.]+,\"p99Ms\":[0-9.]+,\"p999Ms\":[0-9.]+"));
    EXPECT_THAT(result.errors, ContainsRegex("config and pool 'bench-[0-9]+', made for this run"));
    EXPECT_THAT(call(server.port(), "GET", "/metrics").body,
                HasSubstr("\nsluice_slots_assigned_total 500\n"));
    const CliResult windows =
        server.run({"windows", "--from", "2030-01-01T09:00:00Z", "--for", "4s", "--output", "json"});
    EXPECT_EQ(windows.out,
              "{\"windows\":[{\"start\":\"2030-01-01T09:00:00.000Z\",\"count\":0,\"max\":50}]}\n");
}

TEST(Bench, TakesAConfigOfAnEarlierRunAgainWhereItsWindowsAreEmpty) {
    const CliServer server{{"--store", "memory"}};
    const auto bench_at = [&](const char* time, const char* cap) {
        return server.run({"bench", "slots", "--count", "20", "--at", time, "--max-per-window", cap}).errors;
    };

    EXPECT_THAT(bench_at("2030-01-01T09:00:00Z", "10"), HasSubstr("made for this run"));
    EXPECT_THAT(bench_at("2030-01-01T10:00:00Z", "10"), HasSubstr("left by an earlier run"));
    EXPECT_THAT(bench_at("2030-01-01T09:00:00Z", "10"), HasSubstr("made for this run"));
    EXPECT_THAT(bench_at("2030-01-01T11:00:00Z", "11"), HasSubstr("made for this run"));

    EXPECT_THAT(call(server.port(), "GET", "/metrics").body, HasSubstr("\nsluice_slots_assigned_total 80\n"));
}

TEST(Bench, KeepsToItsRateAndReportsErrors) {
    const CliServer server{{"--store", "memory"}};

    const CliResult result =
        server.run({"bench", "slots", "--count", "50", "--rate", "200", "--at", "1066-10-14T09:00:00Z"});

    EXPECT_EQ(result.ending.code, 1);
    EXPECT_THAT(result.out, HasSubstr("errors    50\n  400     50\n"));
    EXPECT_THAT(result.errors, HasSubstr("requestedTime must lie between"));
}

TEST(Bench, PrintsWhatItMeasuredWhenItIsInterrupted) {
    const CliServer server{{"--store", "memory"}};
    CliProcess bench{{"bench", "slots", "--duration", "3600", "--connections", "2", "--rate", "100"},
                     {{"SLUICE_SERVER", server.url()}}};
    ASSERT_TRUE(bench.wait_for_error_text(" slots/s, ")) << bench.errors();

    bench.signal(SIGINT);

    EXPECT_EQ(bench.wait().code, 0) << bench.errors();
    EXPECT_THAT(bench.out(), ContainsRegex("slots     [1-9][0-9]* in (.|\n)*p99.9 "));
}

TEST(Bench, LoadsAnotherMachineOnlyWhenToldTwice) {
    // An address of the range for documents: nobody has it.
    for (const char* what : {"slots", "check"}) {
        Words words{"bench", what, "--server", "192.0.2.1:8080"};
        if (std::string_view{what} == "check") {
            words.insert(words.end(), {"--plan", "gold"});
        }
        const CliResult result = run_cli(words);

        EXPECT_EQ(result.ending.code, 2);
        EXPECT_THAT(result.errors, HasSubstr("add --yes"));
    }
}

TEST(Doctor, FindsNothingWrongWithAHealthyServer) {
    const TempFolder folder;
    CliServer server{{"--data", folder / "data"}};
    must_set_default_config(server);
    EXPECT_EQ(server.run({"bench", "slots", "--count", "300"}).ending.code, 0);

    const CliResult running = server.run({"doctor", "--data", folder / "data"});
    EXPECT_EQ(running.ending.code, 0) << running.out;
    EXPECT_THAT(running.out, HasSubstr("ok    server: "));

    const CliResult held = run_cli({"doctor", "--data", folder / "data", "--recount"});
    EXPECT_EQ(held.ending.code, 1);
    EXPECT_THAT(held.out, HasSubstr("-> Stop that server"));

    server.process().signal(SIGTERM);
    server.process().wait();
    const CliResult counted = run_cli({"doctor", "--data", folder / "data", "--recount"});
    EXPECT_EQ(counted.ending.code, 0) << counted.out;
    EXPECT_THAT(counted.out, HasSubstr("ok    recount: 300 slots in "));
}

TEST(Doctor, AsksTheServerWhatToLookAt) {
    const TempFolder folder;
    const CliServer server{{"--data", folder / "data"}};

    const CliResult result = server.run({"doctor"});

    EXPECT_EQ(result.ending.code, 0) << result.out;
    for (const char* part : {"version: ", "server clock: ", "open files: ", "plans in force: ", "disk: "}) {
        EXPECT_THAT(result.out, HasSubstr(std::string{"ok    "} + part));
    }
    EXPECT_THAT(result.out, HasSubstr("ok    data folder: Only the owner may use " + (folder / "data")));
}

TEST(Doctor, SaysThatATokenWouldShowMore) {
    const TempFolder folder;
    write_token(folder / "token", std::string(32, 'a'));
    const CliServer server{{"--store", "memory", "--token-file", folder / "token"}};

    const CliResult without = server.run({"doctor"});
    EXPECT_EQ(without.ending.code, 0) << without.out;
    EXPECT_THAT(without.out, HasSubstr("note  server settings: "));
    EXPECT_THAT(without.out, HasSubstr("-> Give its token with --token-file"));

    const CliResult with = server.run({"doctor", "--token-file", folder / "token"});
    EXPECT_EQ(with.ending.code, 0) << with.out;
    EXPECT_THAT(with.out, HasSubstr("ok    open files: "));
}

TEST(Doctor, FindsServersThatDoNotFit) {
    const TempFolder folder;
    const CliServer one{{"--store", "memory"}};
    const CliServer two{{"--store", "memory"}};
    const CliServer other{{"--data", folder / "data"}};

    const CliResult fit = run_cli({"doctor", "--server", one.url(), "--server", two.url()});
    EXPECT_EQ(fit.ending.code, 0) << fit.out;
    EXPECT_THAT(fit.out, HasSubstr("ok    nodes: 2 servers"));

    const CliResult differ = run_cli({"doctor", "--server", one.url(), "--server", other.url()});
    EXPECT_EQ(differ.ending.code, 1);
    EXPECT_THAT(differ.out, ContainsRegex("FAIL  nodes: store is '(memory|embedded)' at "));
}

TEST(Doctor, FindsARedisThatDoesNotAnswer) {
    const CliServer server{{"--store", "memory"}};

    const CliResult result = run_cli(
        {"doctor"}, {{"SLUICE_SERVER", server.url()}, {"SLUICE_REDIS", "redis://:hunter2@127.0.0.1:1"}});

    EXPECT_EQ(result.ending.code, 1);
    EXPECT_THAT(result.out, AllOf(HasSubstr("FAIL  redis: "), HasSubstr("127.0.0.1:1"), HasSubstr("-> Check"),
                                  Not(HasSubstr("hunter2"))));
}

TEST(Doctor, SaysThatAFolderIsDamagedAndGoesOnWithoutWhatIsLostOnlyWhenTold) {
    const TempFolder folder;
    const std::string data = folder / "data";
    {
        CliServer server{{"--data", data}};
        must_set_default_config(server);
        EXPECT_EQ(server.run({"bench", "slots", "--count", "300"}).ending.code, 0);
        server.process().signal(SIGKILL);
        server.process().wait();
    }
    for (const auto& entry : std::filesystem::directory_iterator{data}) {
        if (entry.path().extension() == ".log" && entry.file_size() > 0) {
            std::fstream log{entry.path(), std::ios::binary | std::ios::in | std::ios::out};
            log.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
            log.put('?');
        }
    }

    const CliResult refused = run_cli({"serve", "--listen", "127.0.0.1:0", "--data", data});
    EXPECT_EQ(refused.ending.code, 1);
    EXPECT_THAT(refused.errors, HasSubstr("is damaged at byte"));
    EXPECT_THAT(refused.errors, HasSubstr("sluice doctor --accept-loss"));
    const CliResult looked = run_cli({"doctor", "--recount", "--data", data});
    EXPECT_EQ(looked.ending.code, 1);
    EXPECT_THAT(looked.out, HasSubstr("FAIL  data format: The log "));
    EXPECT_THAT(looked.out, Not(HasSubstr("version of Sluice")));

    const CliResult accepted = run_cli({"doctor", "--accept-loss", "--recount", "--data", data});
    EXPECT_EQ(accepted.ending.code, 0) << accepted.out;
    EXPECT_THAT(accepted.out, HasSubstr("is given up"));
    EXPECT_THAT(accepted.out, HasSubstr("ok    checksums: "));
    EXPECT_NO_THROW(CliServer({"--data", data}));
}

TEST(Doctor, SaysWhatToDo) {
    const TempFolder folder;
    std::ofstream{folder / "sluice.yaml"} << "lisen: x\n";
    ASSERT_EQ(::mkdir((folder / "open").c_str(), 0755), 0);

    const CliResult result = run_cli({"doctor", "--config", folder / "sluice.yaml", "--data", folder / "open",
                                      "--server", "http://127.0.0.1:1"});
    EXPECT_EQ(result.ending.code, 1);
    EXPECT_THAT(result.out, HasSubstr("FAIL  settings: "));
    EXPECT_THAT(result.out, HasSubstr("FAIL  server: "));
    EXPECT_THAT(result.out, HasSubstr("-> Take the rights away with 'chmod 700 "));

    const CliResult json = run_cli({"doctor", "--server", "http://127.0.0.1:1", "--output", "json"});
    EXPECT_EQ(json.ending.code, 1);
    EXPECT_THAT(json.out, StartsWith("{\"ok\":false,\"checks\":[{\"part\":\"settings\",\"ok\":true,"));
}

}  // namespace
}  // namespace sluice::test
