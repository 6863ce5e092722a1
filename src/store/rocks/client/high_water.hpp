#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace rocksdb {
class Env;
class RandomRWFile;
}  // namespace rocksdb

namespace sluice::rocks {

// How far the database had come when somebody was last answered: the sequence number of the last row, in a
// file beside RocksDB's. It is written over in place after each synced write and not synced itself, so it
// costs next to nothing: after a kill it is exact, after a power loss it may be older, and it is never ahead.
// A database that reaches less far has lost something that was answered. Every write may fail without harm:
// the check is then weaker.
// Thread safety: none.
class HighWater {
public:
    HighWater(rocksdb::Env& env, const std::string& folder);
    ~HighWater();
    HighWater(const HighWater&) = delete;
    HighWater& operator=(const HighWater&) = delete;

    // What the file of a folder says; empty when there is none, or none that can be read.
    static std::optional<std::uint64_t> read(rocksdb::Env& env, const std::string& folder);

    // REQUIRES: all up to `sequence` is durable.
    void write(std::uint64_t sequence);
    void sync();

private:
    std::unique_ptr<rocksdb::RandomRWFile> file_;  // Null: it cannot be written.
};

}  // namespace sluice::rocks
