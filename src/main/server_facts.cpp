#include "main/server_facts.hpp"

#include <filesystem>

#include <unistd.h>

#include "base/iso8601.hpp"
#include "base/json_text.hpp"
#include "main/process_figures.hpp"
#include "main/version.hpp"

namespace sluice {

std::string server_facts_json(const SettingsInForce& in_force, Instant now) {
    std::string list;
    for (const SettingInForce& entry : in_force.entries) {
        list += list.empty() ? "" : ",";
        list += JsonObject{}
                    .text("key", entry.spec->key)
                    .raw("value", entry.is_set ? json_string(shown_value(entry)) : "null")
                    .text("origin", entry.is_set ? entry.origin : "not set")
                    .done();
    }
    const ProcessFigures figures = read_process_figures();
    std::error_code error;
    return JsonObject{}
        .text("version", version())
        .text("time", format_instant(now))
        .number("pid", ::getpid())
        .text("folder", std::filesystem::current_path(error).string())
        .number("filesOpen", figures.files_open)
        .number("filesMax", figures.files_max)
        .raw("settings", "[" + list + "]")
        .done();
}

}  // namespace sluice
