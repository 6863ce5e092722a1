#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "main/latency_histogram.hpp"
#include "net/client_socket.hpp"

namespace sluice {

struct LoadPlan {
    net::ServerUrl server;
    std::shared_ptr<net::TlsContext> tls{};  // For https://. Shared with the sessions that are made with it.
    std::size_t connections = 1;
    std::chrono::seconds duration{10};     // How long requests are sent, unless `count` is given.
    std::optional<std::uint64_t> count{};  // How many are sent.
    std::optional<std::uint64_t>
        per_second{};  // Without it, each connection asks again when it has its answer.
    std::function<void(std::uint64_t number, std::string& request)>
        write_request;                    // Puts the whole request there.
    unsigned also_good = 0;               // A status beside 2xx that is as good an answer.
    std::function<bool()> interrupted{};  // Asked some times a second. True: the load ends where it is.
};

struct LoadReport {
    LatencyHistogram latency;  // Of what was answered with 2xx, or as good.
    std::map<unsigned, std::uint64_t> statuses;
    std::uint64_t lost = 0;       // No answer: the connection broke or was too slow.
    unsigned refusal_status = 0;  // Of the first answer that was not good; 0: there was none.
    std::string refusal_body;
    std::chrono::nanoseconds took{0};  // From the first request to the last answer.

    [[nodiscard]] std::uint64_t succeeded() const { return latency.total(); }
    [[nodiscard]] std::uint64_t answered() const {
        std::uint64_t sum = 0;
        for (const auto& [status, count] : statuses) {
            sum += count;
        }
        return sum;
    }
};

// Called now and then from the running load.
using LoadProgress = std::function<void(const LoadReport&, std::chrono::nanoseconds since_start)>;

// Loads a server from one thread. At a given rate the latency counts from the moment a request was due, so
// that a server that stands still is not flattered by requests that were never sent. Fails with one sentence
// when the server cannot be reached.
Result<LoadReport, std::string> run_load(const LoadPlan& plan, std::chrono::seconds progress_every,
                                         const LoadProgress& progress);

}  // namespace sluice
