#include "support/cli_process.hpp"

#include <array>
#include <csignal>
#include <stdexcept>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::test {
namespace {

constexpr std::chrono::seconds kPatience{20};

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (std::string& text : texts) {
        list.push_back(text.data());
    }
    list.push_back(nullptr);
    return list;
}

pid_t spawn(const Words& words, const Variables& variables, int out, int errors) {
    std::vector<std::string> arguments{SLUICE_BINARY};
    arguments.insert(arguments.end(), words.begin(), words.end());
    std::vector<std::string> environment;
    for (const auto& [name, value] : variables) {
        environment.push_back(name + "=" + value);
    }
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    pid_t pid = -1;
    const int failed = ::posix_spawn(&pid, SLUICE_BINARY, &actions, nullptr, pointers(arguments).data(),
                                     pointers(environment).data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        throw std::runtime_error{"cannot start " SLUICE_BINARY};
    }
    return pid;
}

}  // namespace

CliProcess::CliProcess(const Words& words, const Variables& variables) {
    std::array<int, 2> out{};
    std::array<int, 2> errors{};
    if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(errors.data(), O_CLOEXEC) != 0) {
        throw std::runtime_error{"cannot make a pipe"};
    }
    pid_ = spawn(words, variables, out[1], errors[1]);
    ::close(out[1]);
    ::close(errors[1]);
    readers_.emplace_back([this, pipe = out[0]] { collect(pipe, out_); });
    readers_.emplace_back([this, pipe = errors[0]] { collect(pipe, errors_); });
}

CliProcess::~CliProcess() {
    if (!ended_) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
}

void CliProcess::collect(int pipe, std::string& into) {
    std::array<char, 4096> bytes{};
    ssize_t count = 0;
    while ((count = ::read(pipe, bytes.data(), bytes.size())) > 0) {
        const std::lock_guard lock{mutex_};
        into.append(bytes.data(), static_cast<std::size_t>(count));
        changed_.notify_all();
    }
    ::close(pipe);
    const std::lock_guard lock{mutex_};
    --open_pipes_;
    changed_.notify_all();
}

void CliProcess::signal(int number) const { ::kill(pid_, number); }

Ending CliProcess::wait() {
    // A process that ends closes its pipes; that can be waited for with a time-out, its end cannot.
    std::unique_lock lock{mutex_};
    if (!changed_.wait_for(lock, kPatience, [this] { return open_pipes_ == 0; })) {
        ADD_FAILURE() << "the process did not end; stderr:\n" << errors_;
        ::kill(pid_, SIGKILL);
    }
    lock.unlock();
    int status = 0;
    ::waitpid(pid_, &status, 0);
    ended_ = true;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

bool CliProcess::wait_for_error_text(const std::string& text) {
    std::unique_lock lock{mutex_};
    const auto there = [&] { return errors_.find(text) != std::string::npos; };
    changed_.wait_for(lock, kPatience, [&] { return there() || open_pipes_ == 0; });
    return there();
}

std::string CliProcess::out() {
    const std::lock_guard lock{mutex_};
    return out_;
}

std::string CliProcess::errors() {
    const std::lock_guard lock{mutex_};
    return errors_;
}

CliResult run_cli(const Words& words, const Variables& variables) {
    CliProcess process{words, variables};
    const Ending ending = process.wait();
    return {ending, process.out(), process.errors()};
}

CliServer::CliServer(const Words& words, const Variables& variables)
    : process_{[&words] {
                   Words all{"serve", "--listen", "127.0.0.1:0"};
                   all.insert(all.end(), words.begin(), words.end());
                   return all;
               }(),
               variables} {
    const std::string ready = "Sluice is ready on ";
    const std::string address = "://127.0.0.1:";
    if (!process_.wait_for_error_text(ready)) {
        throw std::runtime_error{"the server did not start: " + process_.errors()};
    }
    std::string line = process_.errors();
    line.erase(0, line.find(ready) + ready.size());
    const std::size_t scheme_end = line.find(address);
    scheme_ = line.substr(0, scheme_end);
    port_ = static_cast<std::uint16_t>(std::stoul(line.substr(scheme_end + address.size())));
}

}  // namespace sluice::test
