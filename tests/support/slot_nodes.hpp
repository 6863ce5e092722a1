#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/cli_process.hpp"
#include "support/raw_http.hpp"

namespace sluice::test {

// Three daemons on one PostgreSQL, each on a new port whenever it starts.
// Thread safety: port(); the rest from one thread.
class SlotNodes {
public:
    static constexpr std::size_t kCount = 3;
    // The variables of each node.
    using Settings = std::array<Variables, kCount>;

    // Starts all of them at once: one of them makes the schema.
    SlotNodes(std::string dsn, Settings settings);

    // 0 while the node is dead.
    [[nodiscard]] std::uint16_t port(std::size_t node) const { return ports_[node]; }

    void start(std::size_t node);
    // With SIGKILL.
    void kill(std::size_t node);
    // With SIGTERM; fails the test when one does not end well.
    void stop_all();

private:
    const std::string dsn_;
    const Settings settings_;
    std::array<std::unique_ptr<CliServer>, kCount> servers_;
    std::array<std::atomic<std::uint16_t>, kCount> ports_{};
};

// One client's connections: one to each node, kept as long as it lasts.
// Thread safety: one thread.
class NodeLines {
public:
    explicit NodeLines(const SlotNodes& nodes) : nodes_{nodes} {}

    // Nothing when the node is dead or the connection was lost: what was asked for may have been done.
    std::optional<HttpAnswer> attempt(std::size_t node, const std::string& text);
    // How long the slowest answer took, and the longest wait for one that never came.
    [[nodiscard]] std::chrono::milliseconds slowest() const { return slowest_; }

private:
    struct Line {
        explicit Line(std::uint16_t to) : port{to}, http{to} {}
        std::uint16_t port;
        RawHttp http;
    };

    const SlotNodes& nodes_;
    std::array<std::optional<Line>, SlotNodes::kCount> lines_;
    std::chrono::milliseconds slowest_{0};
};

}  // namespace sluice::test
