#include <exception>
#include <iostream>
#include <vector>

#include "main/bench_check.hpp"
#include "main/bench_slots.hpp"
#include "main/client_commands.hpp"
#include "main/doctor.hpp"
#include "main/serve.hpp"

namespace {

using sluice::ExitCode;

ExitCode run(const sluice::Invocation& invocation, const sluice::Environment& variables) {
    const std::string& path = invocation.command->path;
    if (path == "serve") {
        return serve(invocation, variables, std::cout, std::cerr);
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
    if (path == "completion bash") {
        std::cout << sluice::bash_completion();
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
