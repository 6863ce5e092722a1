#include "store/rocks/client/log_check.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include <rocksdb/env.h>

#include "store/rocks/client/crc32c.hpp"
#include "store/rocks/client/database.hpp"

namespace sluice::rocks {
namespace {

// The format of a log: blocks of 32 KiB, in them pieces of records, each with a checksum, a length and a
// type. A record is a write batch, which starts with its sequence number and its count of rows.
constexpr std::size_t kBlock = 32'768;
constexpr std::size_t kHeader = 7;
constexpr std::size_t kBatchHeader = 12;
constexpr std::size_t kSector = 512;
enum class Piece : std::uint8_t { Full = 1, First = 2, Middle = 3, Last = 4 };

std::uint64_t little_endian(std::string_view bytes) {
    std::uint64_t number = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
        number = (number << 8U) | static_cast<unsigned char>(bytes[i]);
    }
    return number;
}

std::size_t length_at(std::string_view block, std::size_t place) {
    return little_endian(block.substr(place + 4, 2));
}

struct ReadPiece {
    Piece type;
    std::string_view bytes;
};

// The piece that stands there, if one does and is as it was written.
std::optional<ReadPiece> piece_at(std::string_view block, std::size_t place) {
    const auto type = static_cast<std::uint8_t>(block[place + 6]);
    const std::size_t length = length_at(block, place);
    if (type < 1 || type > 4 || place + kHeader + length > block.size()) {
        return std::nullopt;
    }
    if (masked_crc32c(block.substr(place + 6, 1 + length)) != little_endian(block.substr(place, 4))) {
        return std::nullopt;
    }
    return ReadPiece{Piece{type}, block.substr(place + kHeader, length)};
}

// True when a part of the bytes within one sector was never written: it is all zeros.
bool has_empty_sector(std::string_view bytes, std::uint64_t offset) {
    constexpr std::size_t kShortest = 16;  // Fewer zeros may as well have been written.
    for (std::size_t begin = 0; begin < bytes.size();) {
        const std::size_t left = kSector - (offset + begin) % kSector;
        const std::string_view sector = bytes.substr(begin, left);
        if (sector.size() >= kShortest && sector.find_first_not_of('\0') == std::string_view::npos) {
            return true;
        }
        begin += left;
    }
    return false;
}

// All logs of a folder, in their order.
class LogScan {
public:
    Result<void, StoreError> read(rocksdb::Env& env, const std::string& path) {
        name_ = path.substr(path.rfind('/') + 1);
        open_record_.reset();
        broken_at_.reset();
        has_empty_sector_ = false;
        looked_at_.reset();
        std::unique_ptr<rocksdb::SequentialFile> file;
        auto status = env.NewSequentialFile(path, &file, {});
        std::string scratch(kBlock, '\0');
        rocksdb::Slice block;
        for (std::uint64_t offset = 0; status.ok(); offset += block.size()) {
            status = file->Read(kBlock, &block, scratch.data());
            if (!status.ok() || block.empty()) {
                break;
            }
            if (auto read = read_block({block.data(), block.size()}, offset); !read) {
                return read;
            }
        }
        if (!status.ok()) {
            return Unexpected{to_error(("cannot read " + name_).c_str(), status)};
        }
        return !broken_at_ || is_cut_off() ? Result<void, StoreError>{}
                                           : damaged(*broken_at_, "what stands there cannot be read");
    }

    [[nodiscard]] std::uint64_t last() const { return next_ == 0 ? 0 : next_ - 1; }

private:
    Result<void, StoreError> read_block(std::string_view block, std::uint64_t offset) {
        std::size_t place = 0;
        while (place + kHeader <= block.size()) {
            const auto piece = piece_at(block, place);
            if (piece) {
                if (auto taken = take(*piece, offset + place); !taken) {
                    return taken;
                }
                place += kHeader + piece->bytes.size();
                continue;
            }
            // From here on every place is looked at: a damaged length hides where the next piece begins.
            note_broken(block, place, offset);
            ++place;
        }
        // The end of a whole block is padding; the end of a short one is a header that was cut off.
        if (block.size() < kBlock && place < block.size()) {
            note_broken(block, place, offset);
        }
        return {};
    }

    void note_broken(std::string_view block, std::size_t place, std::uint64_t offset) {
        if (!broken_at_) {
            broken_at_ = offset + place;
            beyond_end_ = block.size() < kBlock && (place + kHeader > block.size() ||
                                                    place + kHeader + length_at(block, place) > block.size());
        }
        if (looked_at_ != offset) {
            looked_at_ = offset;
            has_empty_sector_ = has_empty_sector_ || has_empty_sector(block.substr(place), offset + place);
        }
    }

    Result<void, StoreError> take(const ReadPiece& piece, std::uint64_t offset) {
        const bool begins = piece.type == Piece::Full || piece.type == Piece::First;
        const bool ends = piece.type == Piece::Full || piece.type == Piece::Last;
        if (broken_at_) {
            // The rest of a record that was cut off may have reached the disk; a later record may not.
            return begins ? damaged(*broken_at_, "more was stored behind it") : Result<void, StoreError>{};
        }
        if (begins == open_record_.has_value()) {
            return damaged(offset, "a part of a record is missing");
        }
        if (begins) {
            open_record_ = std::string{};
        }
        if (open_record_->size() < kBatchHeader) {
            open_record_->append(piece.bytes.substr(0, kBatchHeader - open_record_->size()));
        }
        return ends ? finish_record(offset) : Result<void, StoreError>{};
    }

    Result<void, StoreError> finish_record(std::uint64_t offset) {
        const std::string record = std::move(*open_record_);
        open_record_.reset();
        if (record.size() < kBatchHeader) {
            return damaged(offset, "a record is too short");
        }
        const std::uint64_t sequence = little_endian(std::string_view{record}.substr(0, 8));
        const std::uint64_t count = little_endian(std::string_view{record}.substr(8, 4));
        if (next_ != 0 && sequence > next_) {
            return damaged(offset, std::to_string(sequence - next_) + " rows before it are missing");
        }
        next_ = std::max(next_, sequence + count);
        return {};
    }

    [[nodiscard]] bool is_cut_off() const { return beyond_end_ || has_empty_sector_; }

    [[nodiscard]] Unexpected<StoreError> damaged(std::uint64_t offset, const std::string& why) const {
        return Unexpected{StoreError{
            "the log " + name_ + " is damaged at byte " + std::to_string(offset) + ": " + why, kLossAdvice}};
    }

    std::string name_;
    std::uint64_t next_ = 0;                  // The sequence number that comes next; 0: any.
    std::optional<std::string> open_record_;  // The first bytes of a record whose end was not read yet.
    std::optional<std::uint64_t> broken_at_;  // The first byte that cannot be understood.
    bool beyond_end_ = false;                 // What begins there would end behind the end of the file.
    bool has_empty_sector_ = false;           // From there on.
    std::optional<std::uint64_t> looked_at_;  // The block that was last searched for one.
};

// Paths by number.
using Logs = std::map<std::uint64_t, std::string>;

Result<Logs, StoreError> list_logs(rocksdb::Env& env, const std::string& folder) {
    std::vector<std::string> names;
    if (const auto listed = env.GetChildren(folder, &names); !listed.ok()) {
        return Unexpected{to_error(("cannot list " + folder).c_str(), listed)};
    }
    Logs logs;
    for (const std::string& name : names) {
        if (name.ends_with(".log") && name.find_first_not_of("0123456789") == name.size() - 4) {
            logs.emplace(std::stoull(name), std::string{folder}.append("/").append(name));
        }
    }
    return logs;
}

}  // namespace

Result<std::uint64_t, StoreError> check_logs(rocksdb::Env& env, const std::string& folder) {
    if (!env.FileExists(folder).ok()) {
        return 0;
    }
    const auto logs = list_logs(env, folder);
    if (!logs) {
        return Unexpected{logs.error()};
    }
    LogScan scan;
    for (const auto& [number, path] : *logs) {
        if (const auto read = scan.read(env, path); !read) {
            return Unexpected{read.error()};
        }
    }
    return scan.last();
}

void remove_empty_logs(rocksdb::Env& env, const std::string& folder, std::uint64_t current) {
    const auto logs = list_logs(env, folder);
    for (const auto& [number, path] : logs ? *logs : Logs{}) {
        std::uint64_t size = 1;
        if (number < current && env.GetFileSize(path, &size).ok() && size == 0) {
            static_cast<void>(env.DeleteFile(path));
        }
    }
}

}  // namespace sluice::rocks
