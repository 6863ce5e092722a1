#include "main/sender_command.hpp"

#include <ostream>

#include "main/daemon_log.hpp"
#include "main/gateway_kafka.hpp"
#include "main/message_lines.hpp"
#include "main/signals.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "Sluice";

ExitCode give_up(std::ostream& errors, ExitCode code, const std::string& sentence) {
    errors << "sluice: " << sentence << std::endl;
    return code;
}

}  // namespace

ExitCode run_sender(const Invocation& invocation, const Environment& variables, std::ostream& errors) {
    const auto in_force = load_settings(invocation.typed, variables);
    if (!in_force) {
        return give_up(errors, ExitCode::Usage, in_force.error());
    }
    const Settings& settings = in_force->settings;
    if (settings.kafka.brokers.empty()) {
        return give_up(errors, ExitCode::Usage,
                       "A sender needs a Kafka to read from; give --kafka host:port.");
    }
    const Signals signals;
    const SystemClock clock;
    const auto runtime = make_machine_runtime();
    const auto log = make_daemon_log(settings.log_level, settings.log_format, clock);
    const GatewayKafkaWorld world{clock, *log, *runtime};
    const auto keeper = keep_outbound_topic(settings.kafka, world);
    const auto sender =
        TopicSender::open(settings.kafka, make_message_lines(settings.log_format, clock), world);
    if (!sender) {
        return give_up(errors, ExitCode::Failed, sender.error());
    }
    log->announce(kComponent, "Sluice sender is ready: it sends what is on " + outbound_topic() +
                                  " of Kafka at " + settings.kafka.brokers + ", as one of the group " +
                                  sender_group());
    while (signals.wait() == SIGHUP) {
        log->write(LogLevel::Info, kComponent, "Asked to reload, but a sender has nothing in files");
    }
    log->write(LogLevel::Info, kComponent, "Draining; a second signal ends the process at once");
    Signals::let_through();
    (*sender)->stop();
    keeper->stop();
    log->write(LogLevel::Info, kComponent,
               "Stopped, messages sent: " + std::to_string((*sender)->counts().sent));
    return ExitCode::Ok;
}

}  // namespace sluice
