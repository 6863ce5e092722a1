#include "main/data_folder.hpp"

#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

Unexpected<std::string> cannot(const std::string& what, const std::string& path, const std::string& why) {
    return Unexpected{"The data folder " + path + " cannot be " + what + ": " + why + "."};
}

std::string capitalized(std::string text) {
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    }
    return text;
}

}  // namespace

Result<void, std::string> prepare_data_folder(const std::string& path) {
    fs::path folder = fs::path{path}.lexically_normal();
    if (!folder.has_filename()) {
        folder = folder.parent_path();  // "data/" names the same folder as "data".
    }
    std::error_code error;
    if (folder.has_parent_path()) {
        fs::create_directories(folder.parent_path(), error);
    }
    if (error) {
        return cannot("made", path, error.message());
    }
    if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
        return cannot("made", path, std::strerror(errno));
    }
    if (!fs::is_directory(folder, error)) {
        return Unexpected{"The data folder " + path + " is not a folder."};
    }
    if (::access(folder.c_str(), R_OK | W_OK | X_OK) != 0) {
        return cannot("written to", path, std::strerror(errno));
    }
    return {};
}

std::optional<pid_t> holder_of(const std::string& path) {
    const int file = ::open((path + "/LOCK").c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return std::nullopt;
    }
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    const bool asked = ::fcntl(file, F_GETLK, &lock) == 0;
    ::close(file);
    return asked && lock.l_type != F_UNLCK ? std::optional{lock.l_pid} : std::nullopt;
}

bool holds_data(const std::string& path) {
    std::error_code error;
    return fs::exists(fs::path{path} / "CURRENT", error);
}

Result<DataFolder, StoreError> open_data_folder(const RocksPlace& place, std::optional<Duration> retention) {
    const std::string& path = place.path;
    const auto slots = std::make_shared<rocks::SlotTableSet>(retention);
    const auto work = std::make_shared<rocks::WorkTableSet>(slots->shared_horizon());
    const auto gateway = std::make_shared<rocks::GatewayTableSet>();
    auto folder = rocks::Folder::open(place, {slots, work, gateway});
    if (folder) {
        return DataFolder{std::move(*folder), slots, work, gateway};
    }
    // Asked only now: closing the file gives up every lock that this process has on it, and it has none.
    if (const auto holder = holder_of(path)) {
        return Unexpected{StoreError{
            "The data folder " + path + " is held by another process (" + std::to_string(*holder) + ").",
            "Stop it, or choose another folder with --data."}};
    }
    return Unexpected{StoreError{capitalized(folder.error().what) + ".", folder.error().advice}};
}

}  // namespace sluice
