#include "store/rocks/client/folder.hpp"

#include <algorithm>

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <sys/statvfs.h>

namespace sluice::rocks {
namespace {

// When a new log begins it takes 35 MiB at once, and a quarter must still be there for cancels then. The rest
// is for the write that follows the look at the free space, of 10,000 events with the longest ids perhaps: in
// the log, and in a file.
constexpr std::uint64_t kReserveLeast = std::uint64_t{64} << 20U;

// The larger of that and 2 % of the file system.
std::uint64_t usual_reserve(const std::string& folder) {
    struct statvfs disk {};
    return ::statvfs(folder.c_str(), &disk) == 0 ? std::uint64_t{disk.f_frsize} * disk.f_blocks / 50 : 0;
}

Unexpected<StoreError> closed() { return Unexpected{StoreError{"the database is closed"}}; }

}  // namespace

Result<std::shared_ptr<Folder>, StoreError> Folder::open(RocksPlace place, TableSets sets) {
    auto database = Database::open(place, sets);
    if (!database) {
        return Unexpected{std::move(database).error()};
    }
    return std::shared_ptr<Folder>{new Folder{std::move(place), std::move(sets), std::move(*database)}};
}

Folder::Folder(RocksPlace place, TableSets sets, std::shared_ptr<Database> database)
    : place_{std::move(place)},
      sets_{std::move(sets)},
      reserve_{std::max(kReserveLeast, place_.reserve.value_or(usual_reserve(place_.path)))},
      database_{std::move(database)} {
    static_cast<void>(space());  // Merges need to know of it from the start.
}

Folder::~Folder() {
    if (database_ && !is_full()) {
        database_->empty_log();
    }
}

std::shared_ptr<Database> Folder::current() const {
    const std::lock_guard lock{mutex_};
    return database_;
}

Result<std::shared_ptr<Database>, StoreError> Folder::database() const {
    auto database = current();
    return database ? Result<std::shared_ptr<Database>, StoreError>{std::move(database)} : closed();
}

Result<Batch, StoreError> Folder::begin() const {
    auto database = current();
    return database ? Result<Batch, StoreError>{Batch{std::move(database)}} : closed();
}

std::uint64_t Folder::opening() const {
    const std::lock_guard lock{mutex_};
    return openings_;
}

Result<void, StoreError> Folder::reopen_after(std::uint64_t opening) {
    const std::lock_guard alone{reopening_};
    if (this->opening() > opening && current()) {
        return {};
    }
    if (current() && is_full()) {
        // Opening writes. What is open can at least be read, and shows nothing that was not stored.
        return Unexpected{StoreError{"the disk is full", "Free some space; nothing is lost."}};
    }
    {
        // The folder must be released before it can be opened again; readers then find it closed.
        const std::lock_guard lock{mutex_};
        database_.reset();
    }
    auto opened = Database::open(place_, sets_);
    if (!opened) {
        return Unexpected{std::move(opened).error()};
    }
    const std::lock_guard lock{mutex_};
    database_ = std::move(*opened);
    ++openings_;
    return {};
}

Result<void, StoreError> Folder::verify() const {
    const auto database = current();
    if (!database) {
        return closed();
    }
    const auto verified = database->db().VerifyChecksum();
    return verified.ok() ? Result<void, StoreError>{}
                         : Unexpected{to_error("a file does not hold what was written", verified)};
}

std::optional<StoreSpace> Folder::space() const {
    std::uint64_t free = 0;
    if (!env_of(place_)->GetFreeSpace(place_.path, &free).ok()) {
        return std::nullopt;
    }
    const auto database = current();
    const StoreSpace space{free, reserve_, database ? database->unsorted() : 0};
    if (database) {
        database->allow_merges(free, reserve_ + space.owed);
    }
    return space;
}

bool Folder::is_full() const {
    const auto now = space();
    return now && now->room() == StoreRoom::None;
}

}  // namespace sluice::rocks
