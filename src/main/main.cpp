#include <exception>
#include <iostream>
#include <vector>

#include "main/batch_command.hpp"
#include "main/bench_check.hpp"
#include "main/bench_slots.hpp"
#include "main/client_commands.hpp"
#include "main/dispatch_commands.hpp"
#include "main/doctor.hpp"
#include "main/sender_command.hpp"
#include "main/serve.hpp"
#include "main/version.hpp"
#include "main/wait_command.hpp"
#include "main/windows_command.hpp"

namespace {

using sluice::ExitCode;

// What a command prints that asks nobody.
std::string text_of(const sluice::Invocation& invocation) {
    const std::string& path = invocation.command->path;
    if (path == "version") {
        const std::string version{sluice::version()};
        return invocation.wants_json() ? "{\"version\":\"" + version + "\"}\n" : "sluice " + version + "\n";
    }
    return path == "completion zsh"    ? sluice::zsh_completion()
           : path == "completion fish" ? sluice::fish_completion()
                                       : sluice::bash_completion();
}

ExitCode run(const sluice::Invocation& invocation, const sluice::Environment& variables) {
    const std::string& path = invocation.command->path;
    if (path == "serve") {
        return serve(invocation, variables, std::cout, std::cerr);
    }
    if (path == "sender") {
        return run_sender(invocation, variables, std::cerr);
    }
    if (path == "bench slots") {
        return bench_slots(invocation, std::cout, std::cerr);
    }
    if (path == "bench check") {
        return bench_check(invocation, std::cout, std::cerr);
    }
    if (path == "doctor") {
        return doctor(invocation, variables, std::cout, std::cerr);
    }
    if (path == "batch") {
        return assign_batch(invocation, std::cout, std::cerr);
    }
    if (path == "windows") {
        return show_windows(invocation, std::cout, std::cerr);
    }
    if (path == "dead list") {
        return list_dead(invocation, std::cout, std::cerr);
    }
    if (path == "wait") {
        return wait_until_ready(invocation, std::cout, std::cerr);
    }
    if (path == "version" || path.starts_with("completion ")) {
        std::cout << text_of(invocation);
        return ExitCode::Ok;
    }
    return run_client_command(invocation, std::cout, std::cerr);
}

ExitCode start(const std::vector<std::string>& words) {
    const auto variables = sluice::read_environment();
    const auto parsed = sluice::parse_command_line(words, variables);
    if (const auto* printed = std::get_if<sluice::Printed>(&parsed)) {
        std::cout << printed->text;
        return ExitCode::Ok;
    }
    if (const auto* error = std::get_if<sluice::UsageError>(&parsed)) {
        std::cerr << "sluice: " << error->sentence << std::endl;
        return ExitCode::Usage;
    }
    return run(std::get<sluice::Invocation>(parsed), variables);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const ExitCode code = start({argv + 1, argv + argc});
        std::cout.flush();
        return static_cast<int>(std::cout ? code : ExitCode::Failed);
    } catch (const std::exception& error) {
        // Only what no command could foresee comes here: no memory, no threads.
        std::cerr << "sluice: " << error.what() << "." << std::endl;
        return static_cast<int>(ExitCode::Failed);
    }
}
