#include "main/doctor_data.hpp"

#include <algorithm>

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "app/slots/slot_ledger.hpp"
#include "main/data_folder.hpp"

namespace sluice {
namespace {

Finding check_rights(const std::string& path, const struct stat& folder) {
    if (!S_ISDIR(folder.st_mode)) {
        return {"data folder", false, path + " is not a folder.",
                "Name the folder of the embedded store with --data."};
    }
    if ((folder.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return {"data folder", false, "Others than the owner may use " + path + ".",
                "Take the rights away with 'chmod 700 " + path + "'."};
    }
    // Opening writes files, which then belong to the user of this run and not to the server.
    if (folder.st_uid != ::geteuid()) {
        return {"data folder", false, path + " belongs to user " + std::to_string(folder.st_uid) + ".",
                "Run this as that user."};
    }
    if (::access(path.c_str(), R_OK | W_OK | X_OK) != 0) {
        return {"data folder", false, path + " cannot be written to.", "Give its owner the right to write."};
    }
    return {"data folder", true, "Only the owner may use " + path + "."};
}

// A store that cannot write stops assigning, so there is something to do before it comes to that.
Finding check_room(const std::string& path) {
    constexpr std::uint64_t kMebibyte = 1024 * 1024;
    constexpr std::uint64_t kLeast = 256 * kMebibyte;
    constexpr std::uint64_t kPart = 20;  // One twentieth of the disk.
    struct statvfs disk {};
    if (::statvfs(path.c_str(), &disk) != 0) {
        return {"disk", false, "The disk of " + path + " cannot be asked for its room.", "Look at 'df'."};
    }
    const std::uint64_t free = std::uint64_t{disk.f_bavail} * disk.f_frsize / kMebibyte;
    const std::uint64_t all = std::uint64_t{disk.f_blocks} * disk.f_frsize / kMebibyte;
    const std::string told =
        std::to_string(free) + " MiB of " + std::to_string(all) + " MiB are free under " + path + ".";
    // Few inodes are as bad; a file system without any to count says 0 of 0.
    const bool few_files = disk.f_files > 0 && disk.f_favail < 1'000;
    if (few_files) {
        return {"disk", false,
                "Only " + std::to_string(disk.f_favail) + " files more fit under " + path + ".",
                "Remove files that nobody needs, but none in the data folder."};
    }
    if (free < std::max(kLeast / kMebibyte, all / kPart)) {
        return {"disk", false, told,
                "Free or add room, without touching the data folder; when it is full nothing is assigned."};
    }
    return {"disk", true, told};
}

void check_counters(SlotTables& tables, Findings& findings) {
    const auto report = recount(tables);
    if (!report) {
        const auto& [what, advice] = report.error();
        findings.push_back(
            {"recount", false, "The slots cannot be read: " + what + ".",
             !advice.empty()
                 ? advice
                 : "Restore the folder from a backup, or send the message above to the maintainers."});
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

void check_tables(SlotTables& tables, DataWishes wishes, Findings& findings) {
    if (const auto verified = tables.verify(); !verified) {
        findings.push_back({"checksums", false, "The data is damaged: " + verified.error().what + ".",
                            "Restore the folder from a backup."});
        return;
    }
    findings.push_back({"checksums", true, "Every file holds what was written to it."});
    if (wishes.count_again) {
        check_counters(tables, findings);
    }
}

}  // namespace

void check_data(const std::string& path, DataWishes wishes, Findings& findings) {
    const bool at_rest = wishes.need_rest();
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
    findings.push_back(check_room(path));
    if (!holds_data(path)) {
        findings.push_back({"data format", !at_rest, path + " holds no data yet.",
                            at_rest ? "Name the folder of a server that has run." : ""});
        return;
    }
    if (const auto holder = holder_of(path)) {
        findings.push_back(
            {"data format", !at_rest,
             path + " is in use by process " + std::to_string(*holder) + ", which could read it.",
             at_rest ? "Stop that server first." : ""});
        return;
    }
    const auto data =
        open_data_folder({.path = path, .when_lost = wishes.accept_loss ? WhenLost::GoOn : WhenLost::Refuse});
    if (!data) {
        findings.push_back({"data format", false, data.error().what, data.error().advice});
        return;
    }
    findings.push_back({"data format", true,
                        path + " can be read by this version." +
                            (wishes.accept_loss ? " What it had lost, if anything, is given up." : "")});
    check_tables(*data->tables(), wishes, findings);
}

}  // namespace sluice
