#include "store/rocks/client/rocks_log.hpp"

#include <array>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <optional>
#include <utility>

#include <rocksdb/env.h>

namespace sluice::rocks {
namespace {

constexpr std::string_view kComponent = "RocksDB";
constexpr std::size_t kLinesPerSecond = 20;
constexpr std::size_t kLineMax = 1'024;  // Bytes; the rest of a line is cut off.

class RocksLog final : public rocksdb::Logger {
public:
    explicit RocksLog(Log* log)
        : Logger{log == nullptr ? rocksdb::FATAL_LEVEL : rocksdb::WARN_LEVEL}, log_{log} {}

    void Logv(const char* format, std::va_list words) override { Logv(rocksdb::INFO_LEVEL, format, words); }
    void LogHeader(const char* /*format*/, std::va_list /*words*/) override {}

    void Logv(const rocksdb::InfoLogLevel level, const char* format, std::va_list words) override {
        if (log_ == nullptr || level < GetInfoLogLevel() || level > rocksdb::FATAL_LEVEL) {
            return;
        }
        // That it cannot be opened is told by the one who opens it, once.
        if (std::string_view{format}.find("DB::Open() failed") != std::string_view::npos || !take_turn()) {
            return;
        }
        std::array<char, kLineMax> line{};
        if (std::vsnprintf(line.data(), line.size(), format, words) <= 0) {
            return;
        }
        if (std::string_view{line.data()}.find("Compaction too large") != std::string_view::npos) {
            tell_of_merges();
        } else {
            log_->write(level == rocksdb::WARN_LEVEL ? LogLevel::Warn : LogLevel::Error, kComponent,
                        line.data());
        }
    }

private:
    // RocksDB tries again every second.
    void tell_of_merges() {
        {
            const std::lock_guard lock{mutex_};
            const auto now = std::chrono::steady_clock::now();
            if (merges_told_ && now - *merges_told_ < std::chrono::hours{1}) {
                return;
            }
            merges_told_ = now;
        }
        log_->write(LogLevel::Warn, kComponent,
                    "Files are not merged, because the new ones would not fit beside the old: look-ups get "
                    "slower. Free some space");
    }

    // True when one more line may be written now.
    bool take_turn() {
        std::size_t left_out = 0;
        bool allowed = false;
        {
            const std::lock_guard lock{mutex_};
            const auto now = std::chrono::steady_clock::now();
            if (now - second_ >= std::chrono::seconds{1}) {
                second_ = now;
                written_ = 0;
                left_out = std::exchange(left_out_, 0);
            }
            allowed = written_ < kLinesPerSecond;
            ++(allowed ? written_ : left_out_);
        }
        if (left_out > 0) {
            log_->write(LogLevel::Warn, kComponent, std::to_string(left_out) + " more lines, not listed");
        }
        return allowed;
    }

    Log* const log_;
    std::mutex mutex_;                                // Guards everything below.
    std::chrono::steady_clock::time_point second_{};  // When this second began.
    std::size_t written_ = 0;
    std::size_t left_out_ = 0;
    std::optional<std::chrono::steady_clock::time_point> merges_told_;
};

}  // namespace

std::shared_ptr<rocksdb::Logger> make_rocks_log(Log* log) { return std::make_shared<RocksLog>(log); }

}  // namespace sluice::rocks
