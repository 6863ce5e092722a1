#include "store/rocks/client/high_water.hpp"

#include <rocksdb/env.h>

#include "base/bytes.hpp"

namespace sluice::rocks {
namespace {

std::string path_in(const std::string& folder) { return folder + "/HIGHWATER"; }

// The number and its complement, so that a damaged one is not believed.
std::string encode(std::uint64_t sequence) { return ByteWriter{}.number(sequence).number(~sequence).bytes(); }

}  // namespace

HighWater::HighWater(rocksdb::Env& env, const std::string& folder) {
    const std::string path = path_in(folder);
    if (!env.FileExists(path).ok() && !rocksdb::WriteStringToFile(&env, encode(0), path, true).ok()) {
        return;
    }
    if (!env.NewRandomRWFile(path, &file_, {}).ok()) {
        file_.reset();
    }
}

HighWater::~HighWater() = default;

std::optional<std::uint64_t> HighWater::read(rocksdb::Env& env, const std::string& folder) {
    std::string bytes;
    if (!rocksdb::ReadFileToString(&env, path_in(folder), &bytes).ok()) {
        return std::nullopt;
    }
    ByteReader reader{bytes};
    const auto sequence = reader.number<std::uint64_t>();
    const auto complement = reader.number<std::uint64_t>();
    return reader.consumed() && sequence == ~complement ? std::optional{sequence} : std::nullopt;
}

void HighWater::write(std::uint64_t sequence) {
    if (file_ != nullptr && !file_->Write(0, encode(sequence)).ok()) {
        file_.reset();
    }
}

void HighWater::sync() {
    if (file_ != nullptr) {
        static_cast<void>(file_->Sync());
    }
}

}  // namespace sluice::rocks
