#include "main/serve.hpp"

#include <ostream>

#include "door/http/openapi.hpp"
#include "main/daemon.hpp"
#include "main/parts.hpp"
#include "main/process_figures.hpp"
#include "main/signals.hpp"

namespace sluice {
namespace {

constexpr std::chrono::seconds kDrainPatience{10};

void run(Daemon& daemon, const Signals& signals) {
    while (signals.wait() == SIGHUP) {
        daemon.reload();
    }
    daemon.announce_end();
    Signals::let_through();
    daemon.stop(kDrainPatience);
}

ExitCode fail(std::ostream& errors, ExitCode code, const std::string& sentence) {
    errors << "sluice: " << sentence << std::endl;
    return code;
}

}  // namespace

ExitCode serve(const Invocation& invocation, const Environment& variables, std::ostream& out,
               std::ostream& errors) {
    const auto in_force = load_settings(invocation.typed, variables);
    if (!in_force) {
        return fail(errors, ExitCode::Usage, in_force.error());
    }
    if (invocation.has("print-config")) {
        out << print_settings(*in_force) << std::flush;
        return ExitCode::Ok;
    }
    const Settings& settings = in_force->settings;
    const auto listener = net::resolve_listener(settings.listen);
    if (!listener) {
        return fail(errors, ExitCode::Usage, listener.error());
    }
    if (!net::is_loopback(*listener) && settings.token_file.empty()) {
        return fail(errors, ExitCode::Usage,
                    "Others can reach " + settings.listen.text() +
                        ", so the admin routes need a token: give --token-file, or listen on 127.0.0.1.");
    }
    const Signals signals;
    raise_files_max();
    Daemon daemon{*in_force, {all_parts(), http::openapi_json()}};
    if (const auto started = daemon.start(*listener); !started) {
        return fail(errors, ExitCode::Failed, started.error());
    }
    run(daemon, signals);
    return ExitCode::Ok;
}

}  // namespace sluice
