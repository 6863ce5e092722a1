#include "main/command_table.hpp"

#include <algorithm>

#include "main/command_options.hpp"
#include "main/dispatch_command_table.hpp"
#include "main/gateway_commands.hpp"
#include "main/settings_table.hpp"

namespace sluice {
namespace {

using Options = std::vector<OptionSpec>;

constexpr ValueKind kText = ValueKind::Text;
constexpr ValueKind kDuration = ValueKind::TimeSpan;
constexpr ValueKind kChoice = ValueKind::Choice;
constexpr ValueKind kWhole = ValueKind::WholeNumber;
constexpr ValueKind kFlag = ValueKind::Flag;

Options with_many_servers(Options own) {
    own = with_admin(std::move(own));
    for (OptionSpec& option : own) {
        if (option.name == "server") {
            option.help += "; may be given several times";
            option.repeatable = true;
        }
    }
    return own;
}

Options asking_options(Options more = {}) {
    Options options{config_name(),
                    {"at", "TIME", "The requested time, as 2030-01-01T09:00:00Z; now when missing"},
                    {"weight", "N", "Places that the event takes", kWhole},
                    {"max-delay", "DURATION", "The longest delay that is of use, as 10m", kDuration}};
    options.insert(options.end(), more.begin(), more.end());
    return options;
}

Options config_options() {
    Options options{{"max-per-window", "N", "Places in each window", kWhole, true},
                    {"window-size", "DURATION", "Length of a window, as 4s or PT4S", kDuration, true},
                    {"pool", "NAME", "Pool to count in; the config's own when missing"},
                    {"max-lookahead", "N", "Windows to search from the requested one", kWhole},
                    {"spread",
                     "HOW",
                     "Where events lie in a window: random, or stratified (evenly)",
                     kChoice,
                     false,
                     "",
                     {"random", "stratified"}},
                    {"past",
                     "WHAT",
                     "What a time gone by asks for: asSent, or now",
                     kChoice,
                     false,
                     "",
                     {"asSent", "now"}}};
    const Options more = config_dispatch_options();
    options.insert(options.end(), more.begin(), more.end());
    return options;
}

// The flags of a role: of all settings that have one, or of those that are named.
Options setting_options(const std::vector<std::string_view>& keys = {}) {
    Options options;
    for (const SettingSpec& setting : settings_table()) {
        const bool wanted = keys.empty() || std::find(keys.begin(), keys.end(), setting.key) != keys.end();
        if (setting.reach == Reach::NoFlag || !wanted) {
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
    return options;
}

CommandSpec serve_command() {
    Options options = setting_options();
    options.push_back({"print-config", "", "Print the settings in force and exit", kFlag});
    return {"serve",
            "Run the server",
            "sluice serve --listen 127.0.0.1:8080 --data ./data",
            {},
            std::move(options)};
}

CommandSpec sender_command() {
    return {"sender",
            "Send what is on the gateway's topic of Kafka, as one of all who do",
            "sluice sender --kafka 127.0.0.1:9092",
            {},
            setting_options({"kafka", "logLevel", "logFormat"})};
}

std::vector<CommandSpec> slot_commands() {
    return {
        {"assign",
         "Ask for a slot",
         "sluice assign pay-1 --at 2030-01-01T09:00:00Z",
         {event_id()},
         with_server(asking_options(work_options()))},
        {"slot get",
         "Show an event's slot, its history and how its work stands",
         "sluice slot get pay-1 --audit",
         {event_id()},
         with_server({{"audit", "", "Also show every attempt of its work, and what somebody did", kFlag}})},
        {"slot cancel",
         "Give an event's place back",
         "sluice slot cancel pay-1",
         {event_id()},
         with_server({})},
        {"slot move",
         "Take a place for another time",
         "sluice slot move pay-1 --at 2030-01-01T10:00:00Z",
         {event_id()},
         with_server({{"at", "TIME", "The new requested time, as 2030-01-01T09:00:00Z", kText, true}})},
        {"quote",
         "Ask which time an event could get, and reserve nothing",
         "sluice quote --config-name default --at 2030-01-01T09:00:00Z",
         {{"EVENT_ID", "", "An event that may have a slot already"}},
         with_server(asking_options())},
        {"batch",
         "Ask for the slots of many events at once; exit code 1: some got none",
         "sluice batch events.txt --at 2030-01-01T09:00:00Z",
         {{"FILE", "", "One event a line, its id or JSON as POST /api/v1/slots takes it; - is stdin", kText,
           true}},
         with_server({config_name(),
                      {"at", "TIME", "The requested time of those that name none; now when missing"},
                      {"atomic", "", "All get a slot, or none does", kFlag}})},
        {"windows",
         "Show how full the windows of a config are",
         "sluice windows --from 2030-01-01T09:00:00Z --for 1m",
         {},
         with_server({config_name(),
                      {"from", "TIME", "The first window's time; now when missing"},
                      {"for", "DURATION", "How far to look", kDuration, false, "1m"}})},
    };
}

std::vector<CommandSpec> config_commands() {
    const OptionSpec name{"NAME", "", "The config; the server's default when missing"};
    return {
        {"config list", "List the active version of every config", "sluice config list", {}, with_admin({})},
        {"config get",
         "Show the active version of a config",
         "sluice config get default",
         {name},
         with_admin({})},
        {"config set",
         "Make a new version of a config",
         "sluice config set default --max-per-window 200 --window-size 4s",
         {{"NAME", "", "The config", kText, true}},
         with_admin(config_options())},
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
         "sluice key override user-1 --plan gold --capacity 1000 --ttl 1h",
         {key},
         with_admin({{"plan", "NAME", "The plan", kText, true},
                     {"capacity", "N", "The key's own limit", kWhole},
                     {"refill", "RATE", "The key's own refill, as 10/s"},
                     {"window", "DURATION", "The key's own window, as 1m", kDuration},
                     {"cooldown", "DURATION", "The key's own pause, as 5m", kDuration},
                     {"max-per-hour", "N", "The key's own cap of an hour", kWhole},
                     {"ttl", "DURATION", "How long it holds, as 1h, at most 31d", kDuration},
                     {"until", "TIME", "Until when it holds, in place of --ttl"},
                     {"remove", "", "End the override now", kFlag}})},
    };
}

std::vector<CommandSpec> plan_commands() {
    const OptionSpec name{"NAME", "", "The plan", kText, true};
    return {
        {"plan list", "List the plans of limits in force", "sluice plan list", {}, with_admin({})},
        {"plan set",
         "Make or replace a plan; Redis or PostgreSQL keeps it, a server with limits in memory until it ends",
         "sluice plan set gold --algorithm token_bucket --capacity 100 --refill 10/s",
         {name},
         with_admin({{"algorithm", "NAME",
                      "token_bucket, fixed_window, sliding_window, sliding_window_estimate, cooldown or "
                      "concurrency",
                      kText, true},
                     {"capacity", "N", "The limit", kWhole},
                     {"refill", "RATE", "What a token bucket gains, as 10/s"},
                     {"window", "DURATION", "Length of a window or of a lease, as 1m", kDuration},
                     {"start", "WHEN", "When a fixed window starts: aligned or first_hit"},
                     {"cooldown", "DURATION", "The pause after each event, as 5m", kDuration},
                     {"max-per-hour", "N", "The cap of an hour beside a cooldown", kWhole},
                     {"lease", "N", "Tokens that a server takes at a time", kWhole},
                     {"on-store-failure", "POLICY", "open, closed or local"},
                     {"shadow", "", "Count and tell, but deny nothing", kFlag}})},
        {"plan remove", "Remove a plan", "sluice plan remove gold", {name}, with_admin({})},
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
    options.push_back({"yes", "", "Load a server that is not on this machine", kFlag});
    options.push_back({"json", "", "Short for --output json", kFlag});
    return with_admin(std::move(options));
}

std::vector<CommandSpec> operator_commands() {
    return {
        {"bench slots",
         "Load a running server with assignments, under a config and in a pool of the run's own",
         "sluice bench slots --connections 32 --duration 10",
         {},
         load_options(
             {{"max-per-window", "N", "Places in each window of the run's own config", kWhole, false, "1000"},
              {"window-size", "DURATION", "Length of its windows", kDuration, false, "1s"},
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
         "Check server, settings, stores, disk and clocks, and say what to do",
         "sluice doctor --config sluice.yaml --server 10.0.0.1:8080 --server 10.0.0.2:8080",
         {},
         with_many_servers(
             {{"config", "FILE", "Settings file to check"},
              {"data", "DIR", "Data folder to check; the settings' own when missing"},
              {"recount", "", "Count every slot again; a server on that data folder must be stopped", kFlag},
              {"accept-loss", "",
               "Give up what a damaged log of the data folder has lost, so a server starts on it again",
               kFlag}})},
        {"wait",
         "Wait until a server is ready; exit code 3: it was not in time",
         "sluice wait --timeout 30s",
         {},
         with_server({{"timeout", "DURATION", "How long to wait at most", kDuration, false, "30s"}})},
    };
}

std::vector<CommandSpec> program_commands() {
    return {
        {"completion bash",
         "Print the completion file for bash",
         "sluice completion bash > sluice.bash",
         {},
         {}},
        {"completion zsh", "Print the completion file for zsh", "sluice completion zsh > _sluice", {}, {}},
        {"completion fish",
         "Print the completion file for fish",
         "sluice completion fish > sluice.fish",
         {},
         {}},
        {"help",
         "Explain a command, or list them all",
         "sluice help slot move",
         {{"COMMAND", "", "The command"}, {"WORD", "", "Its second word"}},
         {}},
        {"version", "Print the version", "sluice version", {}, {output()}},
    };
}

std::vector<CommandSpec> make_table() {
    std::vector<CommandSpec> table{serve_command(), sender_command()};
    for (auto* part : {&slot_commands, &config_commands, &dispatch_commands, &limit_commands, &plan_commands,
                       &gateway_commands, &operator_commands, &program_commands}) {
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
                                                      {"work", "Look at the work of slots"},
                                                      {"dead", "Look at dead work, or let it try again"},
                                                      {"dispatch", "Look at, pause, resume or pace dispatch"},
                                                      {"key", "Look at, reset or override a key of limits"},
                                                      {"plan", "Look at or change the plans of limits"},
                                                      {"user", "Look at or change how much a user may send"},
                                                      {"bench", "Measure a running server"},
                                                      {"completion", "Print a completion file for a shell"}};
    return kFamilies;
}

const std::vector<std::string>& later_commands() {
    static const std::vector<std::string> kCommands{"feed",      "top",    "worker",    "indexer",
                                                    "reconcile", "report", "bench send"};
    return kCommands;
}

}  // namespace sluice
