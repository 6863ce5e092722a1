#include "support/slot_nodes.hpp"

#include <algorithm>
#include <csignal>
#include <future>
#include <stdexcept>

#include <gtest/gtest.h>

namespace sluice::test {

SlotNodes::SlotNodes(std::string dsn, Settings settings)
    : dsn_{std::move(dsn)}, settings_{std::move(settings)} {
    std::vector<std::future<void>> starting;
    for (std::size_t i = 0; i < kCount; ++i) {
        starting.push_back(std::async(std::launch::async, [this, i] { start(i); }));
    }
    for (auto& started : starting) {
        started.get();
    }
}

void SlotNodes::start(std::size_t node) {
    servers_[node] =
        std::make_unique<CliServer>(Words{"--store", dsn_, "--log-level", "warn"}, settings_[node]);
    ports_[node] = servers_[node]->port();
}

void SlotNodes::kill(std::size_t node) {
    ports_[node] = 0;
    servers_[node]->process().signal(SIGKILL);
    EXPECT_EQ(servers_[node]->process().wait().signal, SIGKILL);
}

void SlotNodes::stop_all() {
    for (const auto& server : servers_) {
        server->process().signal(SIGTERM);
        EXPECT_EQ(server->process().wait().code, 0) << server->process().errors();
    }
}

std::optional<HttpAnswer> NodeLines::attempt(std::size_t node, const std::string& text) {
    auto& line = lines_[node];
    const auto start = std::chrono::steady_clock::now();
    std::optional<HttpAnswer> answer;
    try {
        const std::uint16_t port = nodes_.port(node);
        if (port == 0) {
            return std::nullopt;
        }
        if (!line || line->port != port) {
            line.emplace(port);
        }
        line->http.send(text);
        answer = line->http.read();
    } catch (const std::runtime_error&) {
        // The node was killed, also while it was being connected to.
    }
    slowest_ = std::max(slowest_, std::chrono::duration_cast<std::chrono::milliseconds>(
                                      std::chrono::steady_clock::now() - start));
    if (!answer) {
        line.reset();
    }
    return answer;
}

}  // namespace sluice::test
