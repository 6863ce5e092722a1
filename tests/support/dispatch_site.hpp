#pragma once

#include <csignal>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/cli_process.hpp"
#include "support/postgres_fixture.hpp"
#include "support/temp_folder.hpp"
#include "support/webhook_receiver.hpp"

namespace sluice::test {

// Where works are kept: in the folder of one daemon, or on a PostgreSQL that two share.
enum class Kept { Embedded, OnPostgres };

// The daemons that send the works of one store. Each can be killed, frozen and started again.
class DispatchSite {
public:
    explicit DispatchSite(Kept kept);

    [[nodiscard]] std::size_t size() const { return nodes_.size(); }
    // Of one that runs, for whoever asks something.
    [[nodiscard]] std::uint16_t port(std::size_t node = 0) const { return nodes_.at(node)->port(); }
    [[nodiscard]] std::string dsn() const { return database_ ? database_->dsn() : std::string{}; }

    void start(std::size_t node);
    // With SIGKILL.
    void kill(std::size_t node);
    // With SIGTERM; fails the test when it does not end well.
    void stop(std::size_t node);
    void freeze(std::size_t node) { nodes_.at(node)->process().signal(SIGSTOP); }
    void thaw(std::size_t node) { nodes_.at(node)->process().signal(SIGCONT); }

    void must(std::string_view method, std::string_view path, const std::string& body) const;
    // Windows with room for all, at once. `more`: further fields, each after a comma.
    void set_config(const std::string& more) const;
    // Events `first` to `first + count`, all wanted now, to the URL.
    void hand_over(std::size_t first, std::size_t count, const std::string& url) const;
    [[nodiscard]] std::string story(const std::string& event) const;

private:
    std::optional<TempFolder> folder_;
    std::unique_ptr<FreshDatabase> database_;
    std::vector<std::optional<CliServer>> nodes_;
};

std::set<std::string> distinct(const std::vector<Arrival>& arrivals);
// Every event has arrived, each time with the bytes that were handed over.
void expect_whole(const std::vector<Arrival>& arrivals, std::size_t count);
bool wait_for_all(const WebhookReceiver& receiver, std::size_t count, std::chrono::seconds patience);

}  // namespace sluice::test
