// A server that nobody asks takes next to no CPU time, whatever its stores are.
#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <thread>

#include <unistd.h>

#include "support/certificates.hpp"
#include "support/cli_process.hpp"
#include "support/postgres_fixture.hpp"
#include "support/redis_fixture.hpp"
#include "support/temp_folder.hpp"
#include "support/tls_peer.hpp"

namespace sluice::test {
namespace {

using std::chrono::steady_clock;

// User and system time of all threads of a process, in seconds.
double cpu_seconds(pid_t pid) {
    std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};
    std::string line;
    std::getline(file, line);
    std::istringstream fields{line.substr(line.rfind(')') + 2)};  // From the third on: the second has spaces.
    std::string skipped;
    for (int field = 3; field < 14; ++field) {
        fields >> skipped;
    }
    double user = 0;
    double system = 0;
    fields >> user >> system;
    return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

class IdleServer : public PostgresTest {};

TEST_F(IdleServer, TakesNoCpuTimeOnAnyStore) {
    // Longer than a minute: after that connections above a pool's minimum are closed.
    constexpr std::chrono::seconds kMeasured{66};
    constexpr double kShareMax = 0.005;  // Of one core.
    SLUICE_NEEDS_REDIS("SLUICE_TEST_REDIS");
    const TempFolder folder;
    std::map<std::string, std::unique_ptr<CliServer>> servers;
    servers["memory"] = std::make_unique<CliServer>(Words{"--store", "memory"});
    servers["embedded"] = std::make_unique<CliServer>(Words{"--data", folder / "data"});
    servers["postgres"] = std::make_unique<CliServer>(Words{"--store", dsn()});
    servers["redis"] = std::make_unique<CliServer>(
        Words{"--store", "memory", "--redis", redis_address("SLUICE_TEST_REDIS")});
    const Certificate own = Certificate::authority("tests").issue(for_this_machine());
    write_file(folder / "cert.pem", own.certificate_pem());
    write_file(folder / "key.pem", own.key_pem());
    servers["tls"] = std::make_unique<CliServer>(
        Words{"--store", "memory", "--tls-cert", folder / "cert.pem", "--tls-key", folder / "key.pem"});
    const TlsPeer idle_client{servers["tls"]->port(), {}};

    std::map<std::string, double> before;
    const auto start = steady_clock::now();
    for (const auto& [store, server] : servers) {
        before[store] = cpu_seconds(server->process().pid());
    }
    std::this_thread::sleep_for(kMeasured);
    const double took = std::chrono::duration<double>(steady_clock::now() - start).count();

    for (const auto& [store, server] : servers) {
        const double used = cpu_seconds(server->process().pid()) - before[store];
        RecordProperty(store, std::to_string(used));
        EXPECT_LT(used / took, kShareMax) << store << " used " << used << " s of " << took << " s";
    }
}

}  // namespace
}  // namespace sluice::test
