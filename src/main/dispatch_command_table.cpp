#include "main/dispatch_command_table.hpp"

#include "main/command_options.hpp"

namespace sluice {
namespace {

using Options = std::vector<OptionSpec>;

constexpr ValueKind kText = ValueKind::Text;
constexpr ValueKind kDuration = ValueKind::TimeSpan;
constexpr ValueKind kChoice = ValueKind::Choice;
constexpr ValueKind kWhole = ValueKind::WholeNumber;
constexpr ValueKind kFlag = ValueKind::Flag;

OptionSpec of_host(const std::string& help) { return {"host", "HOST", help}; }

OptionSpec limit() { return {"limit", "N", "How many to list at most", kWhole, false, "100"}; }

OptionSpec rate_holds() {
    return {"rate-holds",          "WHERE", "Where the rate holds: receiver, or sender", kChoice, false, "",
            {"receiver", "sender"}};
}

// Exactly one of these.
Options subject_options() {
    return {{"config-name", "NAME", "A config"},
            {"pool", "NAME", "A pool"},
            of_host("A host, as pay.example"),
            {"endpoint", "URL", "An endpoint, as https://pay.example/hooks"}};
}

std::vector<CommandSpec> work_commands() {
    OptionSpec events{"EVENT_ID", "", "The events; any number"};
    events.repeatable = true;
    return {
        {"work list",
         "Page through the work of slots",
         "sluice work list --state retrying --host pay.example",
         {},
         with_server({{"state",
                       "STATE",
                       "Only work in this state",
                       kChoice,
                       false,
                       "",
                       {"pending", "claimed", "sent", "retrying", "dead", "parked", "expired", "withdrawn"}},
                      {"config-name", "NAME", "Only work of this config"},
                      of_host("Only work that goes to this host"),
                      {"after", "MARK", "Where the page before ended"},
                      limit()})},
        {"dead list",
         "List work that failed for good or was not begun in time",
         "sluice dead list --host pay.example",
         {},
         with_server({{"config-name", "NAME", "Only work of this config"},
                      of_host("Only work that goes to this host"),
                      limit()})},
        {"dead replay",
         "Let dead work try again, through the same rates; names events, a host or a time",
         "sluice dead replay pay-1 pay-2",
         {std::move(events)},
         with_admin({of_host("All that go to this host"),
                     {"since", "TIME", "Dead since then, as 2030-01-01T09:00:00Z, or later"},
                     {"until", "TIME", "Dead before that"}})},
    };
}

}  // namespace

std::vector<CommandSpec> dispatch_commands() {
    std::vector<CommandSpec> commands = work_commands();
    commands.push_back({"dispatch show",
                        "Show what is paused, the rates, and how much work waits where",
                        "sluice dispatch show",
                        {},
                        with_admin({})});
    commands.push_back({"dispatch pause",
                        "Send nothing to a config, a pool, a host or an endpoint until it is resumed",
                        "sluice dispatch pause --host pay.example",
                        {},
                        with_admin(subject_options())});
    commands.push_back({"dispatch resume",
                        "End a pause, or the parking of an endpoint that said it is gone",
                        "sluice dispatch resume --host pay.example",
                        {},
                        with_admin(subject_options())});
    commands.push_back({"dispatch rate",
                        "Give a host or a pool a hard rate, or take it away",
                        "sluice dispatch rate --host pay.example --per-second 20",
                        {},
                        with_admin({of_host("The host"),
                                    {"pool", "NAME", "The pool"},
                                    {"per-second", "N", "Calls in any second, at most", kWhole},
                                    {"none", "", "Take the rate away", kFlag},
                                    rate_holds()})});
    return commands;
}

std::vector<OptionSpec> work_options() {
    return {{"target", "KIND", "Work for the slot's time: log writes a line", kChoice, false, "", {"log"}},
            {"target-url", "URL", "Work for the slot's time: a POST to this URL"},
            {"target-topic", "TOPIC", "Work for the slot's time: a message to this topic of Kafka"},
            {"payload", "JSON", "What the work takes along, as it stands"},
            {"expires-after", "DURATION", "Work not begun so long after its time is not sent", kDuration}};
}

std::vector<OptionSpec> config_dispatch_options() {
    return {{"max-per-second", "N", "Hard rate of the pool's work", kWhole},
            rate_holds(),
            {"expires-after", "DURATION", "Work not begun so long after its time is not sent", kDuration},
            {"retry-schedule", "DURATIONS", "Pauses after failures, as 5s,30s,10m; none: try once", kText}};
}

}  // namespace sluice
