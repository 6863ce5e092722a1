#include "main/doctor.hpp"

#include <filesystem>
#include <ostream>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "app/slots/slot_ledger.hpp"
#include "files/plans_file.hpp"
#include "main/data_folder.hpp"
#include "main/http_client.hpp"
#include "main/human_output.hpp"
#include "main/json_text.hpp"
#include "main/settings.hpp"
#include "store/postgres/postgres_slot_store.hpp"

namespace sluice {
namespace {

constexpr std::chrono::seconds kPatience{5};

struct Finding {
    std::string part;  // What was looked at.
    bool well = true;
    std::string detail;
    std::string advice{};  // What to do about it; empty when all is well.
};

Finding check_server(const HostPort& server) {
    const std::string url = "http://" + server.text();
    const auto response = send_request(server, {"GET", "/readyz"}, kPatience);
    if (!response) {
        return {"server", false, response.error(),
                "Start one with 'sluice serve', or name another with --server."};
    }
    if (response->status != 200) {
        return {"server", false, url + " answers but is not ready: " + response->body,
                "Look at its log on stderr: it says which part cannot work and why."};
    }
    const std::string status = json_field(response->body, "status");
    if (status != "ok") {
        return {"server", false, url + " is ready, but " + status + ": " + response->body,
                "Look at its log on stderr for the part that is named."};
    }
    return {"server", true, url + " is ready."};
}

Finding check_plans(const std::string& path) {
    PlanBook book;
    if (const auto loaded = load_plans_file(path, book); !loaded) {
        return {"plans", false, loaded.error(), "Correct the file; a running server keeps the plans it has."};
    }
    return {"plans", true, path + " holds " + std::to_string(book.current()->all().size()) + " plans."};
}

Finding check_rights(const std::string& path, const struct stat& folder) {
    if (!S_ISDIR(folder.st_mode)) {
        return {"data folder", false, path + " is not a folder.",
                "Name the folder of the embedded store with --data."};
    }
    if ((folder.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return {"data folder", false, "Others than the owner may use " + path + ".",
                "Take the rights away with 'chmod 700 " + path + "'."};
    }
    // Opening writes files, which then belong to whoever runs this and not to the server.
    if (folder.st_uid != ::geteuid()) {
        return {"data folder", false, path + " belongs to user " + std::to_string(folder.st_uid) + ".",
                "Run this as that user."};
    }
    if (::access(path.c_str(), R_OK | W_OK | X_OK) != 0) {
        return {"data folder", false, path + " cannot be written to.", "Give its owner the right to write."};
    }
    return {"data folder", true, "Only the owner may use " + path + "."};
}

void check_counters(SlotTables& tables, std::vector<Finding>& findings) {
    const auto report = recount(tables);
    if (!report) {
        findings.push_back(
            {"recount", false, "The slots cannot be read: " + report.error().what + ".",
             "Restore the folder from a backup, or send the message above to the maintainers."});
        return;
    }
    const std::string counted =
        std::to_string(report->slots) + " slots in " + std::to_string(report->windows) + " windows";
    if (report->differences.empty()) {
        findings.push_back(
            {"recount", true, counted + ", every counter is right and no window is above its cap."});
    }
    for (const std::string& difference : report->differences) {
        findings.push_back(
            {"recount", false, difference,
             "Keep a copy of the folder and send this line to the maintainers: it must not happen."});
    }
}

void check_postgres(const std::string& dsn, bool count_again, std::vector<Finding>& findings) {
    const auto figures = examine_postgres_slots(dsn, count_again);
    if (!figures) {
        findings.push_back(
            {"postgresql", false, figures.error(),
             "Check the address, the rights of the role, and that a server has started once."});
        return;
    }
    findings.push_back({"postgresql", true, "It can be reached, and the schema is up to date."});
    if (count_again && *figures == 0) {
        findings.push_back({"recount", true, "Every counter is right."});
    } else if (count_again) {
        findings.push_back({"recount", false, std::to_string(*figures) + " counters differ from their slots.",
                            "Look at 'select * from sluice.recount where counted <> recounted'."});
    }
}

void check_data(const std::string& path, bool count_again, std::vector<Finding>& findings) {
    struct stat folder {};
    if (::stat(path.c_str(), &folder) != 0) {
        findings.push_back({"data folder", false, path + " does not exist.",
                            "Name the folder with --data; 'sluice serve' makes one when it first starts."});
        return;
    }
    findings.push_back(check_rights(path, folder));
    if (!findings.back().well) {
        return;
    }
    if (!holds_data(path)) {
        findings.push_back({"data format", !count_again, path + " holds no data yet.",
                            count_again ? "Name the folder of a server that has run." : ""});
        return;
    }
    if (const auto holder = holder_of(path)) {
        findings.push_back(
            {"data format", !count_again,
             path + " is in use by process " + std::to_string(*holder) + ", which could read it.",
             count_again ? "Stop that server, then count again." : ""});
        return;
    }
    auto tables = open_data_folder({.path = path});
    if (!tables) {
        findings.push_back({"data format", false, tables.error(),
                            "Use the version of Sluice that wrote the folder, or a newer one."});
        return;
    }
    findings.push_back({"data format", true, path + " can be read by this version."});
    if (count_again) {
        check_counters(**tables, findings);
    }
}

FlagValues settings_flags(const Invocation& invocation) {
    FlagValues flags;
    for (const char* name : {"config", "data"}) {
        if (invocation.has(name)) {
            flags[name] = invocation.value(name);
        }
    }
    return flags;
}

std::vector<Finding> examine(const Invocation& invocation, const Environment& variables,
                             const HostPort& server) {
    std::vector<Finding> findings;
    const auto in_force = load_settings(settings_flags(invocation), variables);
    if (in_force) {
        findings.push_back({"settings", true, "They are valid; 'sluice serve --print-config' lists them."});
    } else {
        findings.push_back({"settings", false, in_force.error(), "Correct it where the message says."});
    }
    if (in_force && !in_force->settings.plans.empty()) {
        findings.push_back(check_plans(in_force->settings.plans));
    }
    // A recount needs the server stopped, so that its absence is no finding then.
    const bool count_again = invocation.has("recount");
    if (!count_again || invocation.typed.contains("server")) {
        findings.push_back(check_server(server));
    }
    if (in_force && in_force->settings.store == StoreKind::Postgres) {
        check_postgres(in_force->settings.postgres.dsn, count_again, findings);
        return findings;
    }
    std::error_code error;
    const bool named = invocation.has("data") || count_again;
    if (named || (in_force && in_force->settings.store == StoreKind::Embedded &&
                  std::filesystem::exists(in_force->settings.data, error))) {
        const std::string fallback = in_force ? in_force->settings.data : "./data";
        check_data(invocation.has("data") ? invocation.value("data") : fallback, count_again, findings);
    }
    return findings;
}

std::string to_json(const std::vector<Finding>& findings, bool well) {
    std::string list;
    for (const Finding& finding : findings) {
        list += list.empty() ? "" : ",";
        list += JsonObject{}
                    .text("part", finding.part)
                    .raw("ok", finding.well ? "true" : "false")
                    .text("detail", finding.detail)
                    .text("advice", finding.advice)
                    .done();
    }
    return JsonObject{}.raw("ok", well ? "true" : "false").raw("checks", "[" + list + "]").done() + "\n";
}

std::string to_text(const std::vector<Finding>& findings) {
    std::string text;
    for (const Finding& finding : findings) {
        text += (finding.well ? "ok    " : "FAIL  ") + finding.part + ": " + finding.detail + "\n";
        if (!finding.advice.empty()) {
            text += "      -> " + finding.advice + "\n";
        }
    }
    return text;
}

}  // namespace

ExitCode doctor(const Invocation& invocation, const Environment& variables, std::ostream& out,
                std::ostream& errors) {
    const auto server = parse_server_url(invocation.value("server"));
    if (!server) {
        errors << "sluice: --server: " << server.error() << std::endl;
        return ExitCode::Usage;
    }
    const std::vector<Finding> findings = examine(invocation, variables, *server);
    bool well = true;
    for (const Finding& finding : findings) {
        well = well && finding.well;
    }
    out << (invocation.wants_json() ? to_json(findings, well) : to_text(findings));
    return well ? ExitCode::Ok : ExitCode::Failed;
}

}  // namespace sluice
