#pragma once

#include <csignal>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "store/redis/client/cluster_slot.hpp"
#include "support/cli_process.hpp"
#include "support/raw_http.hpp"
#include "support/redis_fixture.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {

// A server that does nothing meanwhile: a process, and its children if it has any, as PostgreSQL.
class Standstill {
public:
    explicit Standstill(pid_t server) : processes_{server} {
        const std::string name = std::to_string(server);
        ::kill(server, SIGSTOP);
        std::ifstream children{"/proc/" + name + "/task/" + name + "/children"};
        for (pid_t child = 0; children >> child;) {
            processes_.push_back(child);
            ::kill(child, SIGSTOP);
        }
    }
    ~Standstill() {
        for (const pid_t process : processes_) {
            ::kill(process, SIGCONT);
        }
    }
    Standstill(const Standstill&) = delete;
    Standstill& operator=(const Standstill&) = delete;

private:
    std::vector<pid_t> processes_;
};

// A server of Sluice as its customers and operators see it. Nothing of its plans comes back during a test.
class LimitNode {
public:
    LimitNode(const Words& store, const std::string& deadline, Variables more = {}) {
        std::ofstream{path_} << "plans:\n"
                                "  - {name: gold, algorithm: token_bucket, capacity: 3, refill: 1/d}\n"
                                "  - {name: safe, algorithm: token_bucket, capacity: 3, refill: 1/d, "
                                "on_store_failure: closed}\n"
                                "  - {name: huge, algorithm: token_bucket, capacity: 1000000, refill: 1/h}\n";
        Words words{"--plans", path_};
        words.insert(words.end(), store.begin(), store.end());
        more.insert({{"SLUICE_LIMITS_DEADLINE", deadline}, {"SLUICE_REDIS_TIMEOUT", deadline}});
        server_ = std::make_unique<CliServer>(words, more);
    }

    std::string check(const std::string& key, const std::string& plan = "gold") const {
        const std::string answer = call(server_->port(), "POST", "/api/v1/check",
                                        R"({"key":")" + key + R"(","plans":[")" + plan + R"("]})")
                                       .body;
        const std::string name = R"("reason":")";
        const std::size_t at = answer.find(name);
        return at == std::string::npos
                   ? answer
                   : answer.substr(at + name.size(), answer.find('"', at + name.size()) - at - name.size());
    }
    // Asks until the plan denies.
    void use_up(const std::string& key) const {
        await([&] { return check(key) == "DENIED"; });
    }

    [[nodiscard]] std::string readiness() const { return call(server_->port(), "GET", "/readyz").body; }
    [[nodiscard]] bool is_ready() const {
        return readiness().starts_with(R"({"status":"ok","slots":"ok","limits":"ok")");
    }
    [[nodiscard]] bool is_degraded() const {
        return readiness().starts_with(R"({"status":"degraded","slots":"ok","limits":"store_unavailable")");
    }
    [[nodiscard]] bool shows(const std::string& series) const {
        return call(server_->port(), "GET", "/metrics").body.find(series + "\n") != std::string::npos;
    }
    [[nodiscard]] bool never_opened() const {
        return is_ready() && shows("sluice_limit_servers_down 0") &&
               shows("sluice_limit_breaker_openings_total 0");
    }
    [[nodiscard]] std::string log() const { return server_->process().errors(); }

private:
    TempFolder folder_;
    std::string path_ = folder_ / "plans.yaml";
    std::unique_ptr<CliServer> server_;
};

// Three keys of which each lies on another master of a cluster of tools/services, the first one's first.
inline std::vector<std::string> key_of_each_master(const std::string& prefix = "k") {
    std::vector<std::string> keys(3);
    for (int i = 0; keys[0].empty() || keys[1].empty() || keys[2].empty(); ++i) {
        const std::string key = prefix + std::to_string(i);
        const std::uint16_t slot = redis::slot_of(key);
        keys[slot < 5'461 ? 0 : slot < 10'923 ? 1 : 2] = key;
    }
    return keys;
}

}  // namespace sluice::test
