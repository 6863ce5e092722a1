#include "main/command_table.hpp"

#include "main/settings_table.hpp"

namespace sluice {
namespace {

using Options = std::vector<OptionSpec>;

constexpr ValueKind kText = ValueKind::Text;
constexpr ValueKind kChoice = ValueKind::Choice;
constexpr ValueKind kWhole = ValueKind::WholeNumber;
constexpr ValueKind kFlag = ValueKind::Flag;

OptionSpec output() {
    return {"output", "FORMAT", "text, or json for programs", kChoice, false, "text", {"text", "json"}};
}

OptionSpec server() {
    return {"server", "URL",          "The running server", kText, false, "http://127.0.0.1:8080",
            {},       "SLUICE_SERVER"};
}

OptionSpec token_file() {
    return {"token-file",       "FILE", "File with the server's admin token", kText, false, "", {},
            "SLUICE_TOKEN_FILE"};
}

OptionSpec event_id() { return {"EVENT_ID", "", "The event", kText, true}; }

OptionSpec config_name() { return {"config-name", "NAME", "The config; the server's default when missing"}; }

Options with_server(Options own) {
    own.push_back(server());
    own.push_back(output());
    return own;
}

Options with_admin(Options own) {
    own.push_back(token_file());
    return with_server(std::move(own));
}

Options asking_options() {
    return {config_name(),
            {"at", "TIME", "The requested time, as 2025-06-01T12:00:00Z; now when missing"},
            {"weight", "N", "Places that the event takes", kWhole},
            {"max-delay", "DURATION", "The longest delay that is of use, as PT10M"}};
}

CommandSpec serve_command() {
    Options options;
    for (const SettingSpec& setting : settings_table()) {
        if (setting.reach == Reach::NoFlag) {
            continue;
        }
        OptionSpec option{setting.flag().substr(2), std::string{setting.value_name},
                          std::string{setting.help}};
        // Shown only: which source wins is for the settings to say.
        if (!setting.default_value.empty()) {
            option.help += " [" + std::string{setting.default_value} + "]";
        }
        // Offered only, for the same reason.
        for (const std::string_view choice : setting.choices) {
            if (!choice.empty()) {
                option.choices.emplace_back(choice);
            }
        }
        option.hidden = setting.support == Support::Later;
        options.push_back(std::move(option));
    }
    options.push_back({"config", "FILE", "Settings file, usually sluice.yaml"});
    options.push_back({"print-config", "", "Print the settings in force and exit", kFlag});
    return {"serve",
            "Run the server",
            "sluice serve --listen 127.0.0.1:8080 --data ./data",
            {},
            std::move(options)};
}

std::vector<CommandSpec> slot_commands() {
    return {
        {"assign",
         "Ask for a slot",
         "sluice assign pay-1 --at 2025-06-01T12:00:00Z",
         {event_id()},
         with_server(asking_options())},
        {"slot get",
         "Show an event's slot and its history",
         "sluice slot get pay-1",
         {event_id()},
         with_server({})},
        {"slot cancel",
         "Give an event's place back",
         "sluice slot cancel pay-1",
         {event_id()},
         with_server({})},
        {"slot move",
         "Take a place for another time",
         "sluice slot move pay-1 --at 2025-06-01T13:00:00Z",
         {event_id()},
         with_server({{"at", "TIME", "The new requested time, as 2025-06-01T12:00:00Z", kText, true}})},
        {"quote",
         "Ask which time an event could get, and reserve nothing",
         "sluice quote --config-name default --at 2025-06-01T12:00:00Z",
         {{"EVENT_ID", "", "An event that may have a slot already"}},
         with_server(asking_options())},
    };
}

std::vector<CommandSpec> config_commands() {
    const OptionSpec name{"NAME", "", "The config; the server's default when missing"};
    return {
        {"config get",
         "Show the active version of a config",
         "sluice config get default",
         {name},
         with_admin({})},
        {"config set",
         "Make a new version of a config",
         "sluice config set default --max-per-window 200 --window-size PT4S",
         {{"NAME", "", "The config", kText, true}},
         with_admin({{"max-per-window", "N", "Places in each window", kWhole, true},
                     {"window-size", "DURATION", "Length of a window, as PT4S", kText, true},
                     {"pool", "NAME", "Pool to count in; the config's own when missing"},
                     {"max-lookahead", "N", "Windows to search from the requested one", kWhole}})},
        {"config history",
         "List the versions of a config, newest first",
         "sluice config history default",
         {name},
         with_admin({})},
    };
}

OptionSpec plan_names(bool required, const std::string& help) {
    OptionSpec option{"plan", "NAME", help, kText, required};
    option.repeatable = true;
    return option;
}

std::vector<CommandSpec> limit_commands() {
    const OptionSpec key{"KEY", "", "Who is limited", kText, true};
    const OptionSpec some_plans = plan_names(false, "A plan, or several; all there are when missing");
    return {
        {"check",
         "Ask whether a key may go on, now; exit code 0: allowed, 4: denied",
         "sluice check user-1 --plan gold --plan daily --tokens 2",
         {key},
         with_server({plan_names(true, "A plan to take from; may be given several times"),
                      {"tokens", "N", "Tokens to take; 0 only looks", kWhole, false, "1"}})},
        {"key show",
         "Show how a key stands with its plans",
         "sluice key show user-1 --plan gold",
         {key},
         with_admin({some_plans})},
        {"key reset",
         "Forget what a key has used",
         "sluice key reset user-1 --plan gold",
         {key},
         with_admin({some_plans})},
        {"key override",
         "Give one key another rule for a while",
         "sluice key override user-1 --plan gold --capacity 1000 --ttl PT1H",
         {key},
         with_admin({{"plan", "NAME", "The plan", kText, true},
                     {"capacity", "N", "The key's own limit", kWhole},
                     {"refill", "RATE", "The key's own refill, as 10/s"},
                     {"window", "DURATION", "The key's own window, as PT1M"},
                     {"cooldown", "DURATION", "The key's own pause, as PT5M"},
                     {"max-per-hour", "N", "The key's own cap of an hour", kWhole},
                     {"ttl", "DURATION", "How long it holds, as PT1H, at most P31D"},
                     {"until", "TIME", "Until when it holds, in place of --ttl"},
                     {"remove", "", "End the override now", kFlag}})},
    };
}

Options load_options(Options own) {
    Options options{{"connections", "N", "Connections that ask at the same time", kWhole, false, "32"},
                    {"duration", "SECONDS", "How long to ask", kWhole, false, "10"},
                    {"count", "N", "How many to ask for, in place of --duration", kWhole},
                    {"rate", "N", "Requests a second; as fast as answers come when missing", kWhole}};
    for (OptionSpec& option : own) {
        options.push_back(std::move(option));
    }
    options.push_back({"json", "", "Short for --output json", kFlag});
    return with_server(std::move(options));
}

std::vector<CommandSpec> operator_commands() {
    return {
        {"bench slots",
         "Load a running server with assignments and measure it",
         "sluice bench slots --connections 32 --duration 10",
         {},
         load_options({config_name(),
                       {"at", "TIME", "The requested time; the start of the run when missing"},
                       {"prefix", "TEXT", "What the event ids start with; new for each run when missing"}})},
        {"bench check",
         "Load a running server with checks and measure it; denials count as answers",
         "sluice bench check --plan gold --keys 10000 --duration 10",
         {},
         load_options({plan_names(true, "A plan to take from; may be given several times"),
                       {"tokens", "N", "Tokens to take", kWhole, false, "1"},
                       {"keys", "N", "Keys that take turns", kWhole, false, "10000"},
                       {"prefix", "TEXT", "What the keys start with", kText, false, "bench-"}})},
        {"doctor",
         "Check server, settings and data, and say what to do",
         "sluice doctor --config sluice.yaml",
         {},
         with_server({{"config", "FILE", "Settings file to check"},
                      {"data", "DIR", "Data folder to check; the settings' own when missing"},
                      {"recount", "", "Count every slot again; the server must be stopped", kFlag}})},
        {"completion bash",
         "Print the completion file for bash",
         "sluice completion bash > sluice.bash",
         {},
         {}},
    };
}

std::vector<CommandSpec> make_table() {
    std::vector<CommandSpec> table{serve_command()};
    for (auto* part : {&slot_commands, &config_commands, &limit_commands, &operator_commands}) {
        for (CommandSpec& command : part()) {
            table.push_back(std::move(command));
        }
    }
    return table;
}

}  // namespace

const std::vector<CommandSpec>& command_table() {
    static const std::vector<CommandSpec> kTable = make_table();
    return kTable;
}

const std::vector<CommandFamily>& command_families() {
    static const std::vector<CommandFamily> kFamilies{{"slot", "Look at, cancel or move an event's slot"},
                                                      {"config", "Look at or change a config"},
                                                      {"key", "Look at, reset or override a key of limits"},
                                                      {"bench", "Measure a running server"},
                                                      {"completion", "Print a completion file for a shell"}};
    return kFamilies;
}

const std::vector<std::string>& later_commands() {
    static const std::vector<std::string> kCommands{"send",      "user",   "feed",      "dead",
                                                    "top",       "worker", "sender",    "indexer",
                                                    "reconcile", "report", "bench send"};
    return kCommands;
}

}  // namespace sluice
