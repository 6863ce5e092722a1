#pragma once

#include <memory>
#include <mutex>

#include "store/rocks/client/batch.hpp"
#include "store/rocks/client/database.hpp"

namespace sluice::rocks {

// A RocksDB folder, made if it is missing, that several sets of tables share; rows of all of them can be
// stored in one batch. One process at a time may hold it. It alone opens, checks and closes the database, and
// knows how much room its disk has. Closing leaves nothing in the log only, if there is room.
// Thread safety: all of it.
class Folder {
public:
    // Fails on a folder that another process holds, that a newer Sluice wrote, that is no folder of Sluice's,
    // that has tables of a set which is not among these, or that is damaged: whose log is, or misses
    // something that was answered. A write that was cut off, and so was not answered, is no damage.
    static Result<std::shared_ptr<Folder>, StoreError> open(RocksPlace place, TableSets sets);
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    // What is open now, to read from. To be let go soon: the folder cannot be opened again before.
    Result<std::shared_ptr<Database>, StoreError> database() const;
    // Fails while the folder is closed.
    Result<Batch, StoreError> begin() const;

    // Starts over from what is durable. After an error the folder is closed, or as it was when the disk is
    // full.
    Result<void, StoreError> reopen() { return reopen_after(opening()); }
    // Does nothing if somebody else has opened it since: each set of tables recovers by itself, and one that
    // fails again need not take the folder from the others.
    Result<void, StoreError> reopen_after(std::uint64_t opening);
    // How often it was opened.
    [[nodiscard]] std::uint64_t opening() const;

    // Reads all that is stored, and checks that it is as it was written.
    Result<void, StoreError> verify() const;

    // How much room there is now; cheap enough to ask before every commit. Empty: nobody can tell.
    [[nodiscard]] std::optional<StoreSpace> space() const;

private:
    Folder(RocksPlace place, TableSets sets, std::shared_ptr<Database> database);
    [[nodiscard]] std::shared_ptr<Database> current() const;
    [[nodiscard]] bool is_full() const;

    const RocksPlace place_;
    const TableSets sets_;
    const std::uint64_t reserve_;
    std::mutex reopening_;  // Taken before mutex_.
    mutable std::mutex mutex_;
    std::shared_ptr<Database> database_;  // Guarded by mutex_. Null: closed. Readers keep it alive.
    std::uint64_t openings_ = 1;          // Guarded by mutex_.
};

}  // namespace sluice::rocks
