#pragma once

#include <memory>
#include <string>

#include <rocksdb/env.h>

#include "support/faulty_tables.hpp"

namespace sluice::test {

enum class FileCall { Append, Sync };

struct FileFault {
    FileCall call;
    std::size_t nth;  // The first call of that kind after arm() is 1. Folders are synced too.
    Lasting lasting = Lasting::Once;
    bool disk_full = false;  // Tells "no space" instead of "input/output error".
};

// Files in memory for RocksDB, which fail on command and know what a power loss would leave of them.
// A file's bytes are safe when it was synced, its name when its folder was.
class FaultyFiles {
public:
    FaultyFiles();
    ~FaultyFiles();
    FaultyFiles(const FaultyFiles&) = delete;
    FaultyFiles& operator=(const FaultyFiles&) = delete;

    [[nodiscard]] rocksdb::Env* env() const;

    void arm(FileFault fault);
    // The power fails at that call: from then on nothing is written any more.
    void cut_power_at(FileCall call, std::size_t nth);
    void heal();
    [[nodiscard]] std::size_t fired() const;
    // True when a folder of that name was synced.
    [[nodiscard]] bool synced_folder(const std::string& path) const;

    // What was not synced is gone, except for a part of each file's tail that depends on the seed. Power is
    // back.
    // REQUIRES: no database is open on these files.
    void lose_power(std::uint64_t seed);

    // What the disk says is free; plenty at first. Nothing else changes by it.
    void set_free_space(std::uint64_t bytes);

private:
    class Files;
    std::shared_ptr<Files> files_;
    std::unique_ptr<rocksdb::Env> memory_;
    std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace sluice::test
