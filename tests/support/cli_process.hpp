#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

namespace sluice::test {

using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

// How a process ended: with a code, or by a signal.
struct Ending {
    int code = -1;
    int signal = 0;
};

// The sluice binary, running, with no variables but those given. Killed at the latest when this goes.
// Every wait ends after twenty seconds, and the test fails by it.
class CliProcess {
public:
    explicit CliProcess(const Words& words, const Variables& variables = {});
    ~CliProcess();
    CliProcess(const CliProcess&) = delete;
    CliProcess& operator=(const CliProcess&) = delete;

    void signal(int number) const;
    [[nodiscard]] pid_t pid() const { return pid_; }
    Ending wait();

    // True once the text was written to stderr; false when the process ended first, or it took too long.
    bool wait_for_error_text(const std::string& text);

    // What was written so far; all of it after wait().
    std::string out();
    std::string errors();

private:
    // Collects what comes out of a pipe.
    void collect(int pipe, std::string& into);

    pid_t pid_ = -1;
    bool ended_ = false;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::string out_;     // Guarded by mutex_.
    std::string errors_;  // Guarded by mutex_.
    int open_pipes_ = 2;  // Guarded by mutex_.
    std::vector<std::jthread> readers_;
};

struct CliResult {
    Ending ending;
    std::string out;
    std::string errors;
};

// Runs a command to its end.
CliResult run_cli(const Words& words, const Variables& variables = {});

// A server on a free port of this machine.
class CliServer {
public:
    // `words` follow `serve --listen 127.0.0.1:0`.
    explicit CliServer(const Words& words, const Variables& variables = {});

    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::string url() const { return scheme_ + "://127.0.0.1:" + std::to_string(port_); }
    CliProcess& process() { return process_; }

    // Runs a client command against it.
    [[nodiscard]] CliResult run(const Words& words, Variables variables = {}) const {
        variables.emplace("SLUICE_SERVER", url());
        return run_cli(words, variables);
    }

private:
    CliProcess process_;
    std::string scheme_;
    std::uint16_t port_ = 0;
};

}  // namespace sluice::test
