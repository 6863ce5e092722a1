#include "support/faulty_files.hpp"

#include <map>
#include <mutex>
#include <set>

#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>

#include "base/random.hpp"

namespace sluice::test {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// What is known of a file while not all of it is safe.
struct FileState {
    std::size_t written = 0;
    std::size_t synced = 0;
    bool name_safe = false;
    std::optional<std::string> replaced;  // What a rename overwrote, until that is safe.
};

}  // namespace

// Counts and fails the calls, and keeps the state of every file.
// Thread safety: all of it; RocksDB writes from several threads.
class FaultyFiles::Files final : public rocksdb::FileSystemWrapper {
public:
    using FileSystemWrapper::FileSystemWrapper;

    const char* Name() const override { return "FaultyFiles"; }

    // --- Written by a test.
    void arm(FileFault fault, bool power) {
        const std::lock_guard lock{mutex_};
        fault_ = fault;
        cuts_power_ = power;
        calls_.clear();
        fired_ = 0;
    }
    void heal() {
        const std::lock_guard lock{mutex_};
        fault_.reset();
        power_ = true;
    }
    std::size_t fired() {
        const std::lock_guard lock{mutex_};
        return fired_;
    }
    bool synced_folder(const std::string& path) {
        const std::lock_guard lock{mutex_};
        return synced_folders_.contains(path);
    }
    void lose_power(std::uint64_t seed);
    void set_free_space(std::uint64_t bytes) {
        const std::lock_guard lock{mutex_};
        free_ = bytes;
    }

    // --- Called by open files.
    // Whether the call may be made.
    IOStatus before(FileCall call) {
        const std::lock_guard lock{mutex_};
        if (!power_) {
            return IOStatus::IOError("no power");
        }
        const std::size_t count = ++calls_[call];
        if (!fault_ || fault_->call != call || count < fault_->nth ||
            (fault_->lasting == Lasting::Once && count > fault_->nth)) {
            return IOStatus::OK();
        }
        ++fired_;
        power_ = !cuts_power_;
        return fault_->disk_full ? IOStatus::NoSpace("broken by the test")
                                 : IOStatus::IOError("broken by the test");
    }
    void appended(const std::string& path, std::size_t bytes) {
        const std::lock_guard lock{mutex_};
        states_[path].written += bytes;
    }
    void synced(const std::string& path) {
        const std::lock_guard lock{mutex_};
        FileState& state = states_[path];
        state.synced = state.written;
    }
    void folder_synced(const std::string& folder) {
        const std::lock_guard lock{mutex_};
        synced_folders_.insert(folder);
        for (auto& [path, state] : states_) {
            if (folder_of(path) == folder) {
                state.name_safe = true;
                state.replaced.reset();
            }
        }
    }

    // --- Called by RocksDB.
    IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSWritableFile>* result,
                             IODebugContext* debug) override;
    IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                          std::unique_ptr<rocksdb::FSDirectory>* result, IODebugContext* debug) override;
    IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                        IODebugContext* debug) override;
    IOStatus DeleteFile(const std::string& path, const IOOptions& options, IODebugContext* debug) override;
    // A log that RocksDB writes itself goes through the same faults.
    IOStatus NewLogger(const std::string& path, const IOOptions& options,
                       std::shared_ptr<rocksdb::Logger>* result, IODebugContext* debug) override {
        // The wrapper would hand it to the file system below, past the faults.
        return FileSystem::NewLogger(path, options, result, debug);  // NOLINT(bugprone-parent-virtual-call)
    }
    IOStatus GetFreeSpace(const std::string&, const IOOptions&, std::uint64_t* free,
                          IODebugContext*) override {
        const std::lock_guard lock{mutex_};
        *free = free_;
        return IOStatus::OK();
    }
    // Nothing here may write past the counting: RocksDB does not need these for slots.
    IOStatus ReopenWritableFile(const std::string&, const FileOptions&,
                                std::unique_ptr<rocksdb::FSWritableFile>*, IODebugContext*) override {
        return IOStatus::NotSupported("ReopenWritableFile");
    }
    IOStatus ReuseWritableFile(const std::string&, const std::string&, const FileOptions&,
                               std::unique_ptr<rocksdb::FSWritableFile>*, IODebugContext*) override {
        return IOStatus::NotSupported("ReuseWritableFile");
    }

private:
    bool has_power() {
        const std::lock_guard lock{mutex_};
        return power_;
    }
    void keep_prefix(const std::string& path, std::size_t length);

    std::mutex mutex_;  // Guards everything below.
    std::optional<FileFault> fault_;
    bool cuts_power_ = false;
    bool power_ = true;
    std::map<FileCall, std::size_t> calls_;
    std::size_t fired_ = 0;
    std::map<std::string, FileState> states_;
    std::set<std::string> synced_folders_;
    std::uint64_t free_ = std::uint64_t{1} << 40U;
};

namespace {

template <class Files>
class CountedFile final : public rocksdb::FSWritableFileOwnerWrapper {
public:
    CountedFile(std::unique_ptr<rocksdb::FSWritableFile> file, std::string path, Files& files)
        : FSWritableFileOwnerWrapper{std::move(file)}, path_{std::move(path)}, files_{files} {}

    IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, IODebugContext* debug) override {
        IOStatus status = files_.before(FileCall::Append);
        if (status.ok()) {
            status = target()->Append(data, options, debug);
        }
        if (status.ok()) {
            files_.appended(path_, data.size());
        }
        return status;
    }
    IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                    const rocksdb::DataVerificationInfo&, IODebugContext* debug) override {
        return Append(data, options, debug);
    }
    IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
        IOStatus status = files_.before(FileCall::Sync);
        if (status.ok()) {
            status = target()->Sync(options, debug);
        }
        if (status.ok()) {
            files_.synced(path_);
        }
        return status;
    }
    IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override { return Sync(options, debug); }

private:
    const std::string path_;
    Files& files_;
};

template <class Files>
class CountedFolder final : public rocksdb::FSDirectoryWrapper {
public:
    CountedFolder(std::unique_ptr<rocksdb::FSDirectory> folder, std::string path, Files& files)
        : FSDirectoryWrapper{std::move(folder)}, path_{std::move(path)}, files_{files} {}

    IOStatus Fsync(const IOOptions&, IODebugContext*) override {
        IOStatus status = files_.before(FileCall::Sync);
        if (status.ok()) {
            files_.folder_synced(path_);
        }
        return status;
    }
    IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                                 const rocksdb::DirFsyncOptions&) override {
        return Fsync(options, debug);
    }

private:
    const std::string path_;
    Files& files_;
};

}  // namespace

IOStatus FaultyFiles::Files::NewWritableFile(const std::string& path, const FileOptions& options,
                                             std::unique_ptr<rocksdb::FSWritableFile>* result,
                                             IODebugContext* debug) {
    if (!has_power()) {
        return IOStatus::IOError("no power");
    }
    std::unique_ptr<rocksdb::FSWritableFile> file;
    IOStatus status = target()->NewWritableFile(path, options, &file, debug);
    if (status.ok()) {
        const std::lock_guard lock{mutex_};
        states_[path] = FileState{};
        *result = std::make_unique<CountedFile<Files>>(std::move(file), path, *this);
    }
    return status;
}

IOStatus FaultyFiles::Files::NewDirectory(const std::string& name, const IOOptions& options,
                                          std::unique_ptr<rocksdb::FSDirectory>* result,
                                          IODebugContext* debug) {
    std::unique_ptr<rocksdb::FSDirectory> folder;
    IOStatus status = target()->NewDirectory(name, options, &folder, debug);
    if (status.ok()) {
        *result = std::make_unique<CountedFolder<Files>>(std::move(folder), name, *this);
    }
    return status;
}

IOStatus FaultyFiles::Files::RenameFile(const std::string& from, const std::string& to,
                                        const IOOptions& options, IODebugContext* debug) {
    if (!has_power()) {
        return IOStatus::IOError("no power");
    }
    std::string before;
    const bool existed = ReadFileToString(target(), to, &before).ok();
    IOStatus status = target()->RenameFile(from, to, options, debug);
    if (status.ok()) {
        const std::lock_guard lock{mutex_};
        FileState state = states_[from];
        states_.erase(from);
        state.name_safe = false;
        if (existed) {
            state.replaced = std::move(before);
        }
        states_[to] = std::move(state);
    }
    return status;
}

IOStatus FaultyFiles::Files::DeleteFile(const std::string& path, const IOOptions& options,
                                        IODebugContext* debug) {
    if (!has_power()) {
        return IOStatus::IOError("no power");
    }
    IOStatus status = target()->DeleteFile(path, options, debug);
    if (status.ok()) {
        const std::lock_guard lock{mutex_};
        states_.erase(path);
    }
    return status;
}

void FaultyFiles::Files::keep_prefix(const std::string& path, std::size_t length) {
    std::string bytes;
    if (ReadFileToString(target(), path, &bytes).ok() && bytes.size() > length) {
        bytes.resize(length);
        static_cast<void>(WriteStringToFile(target(), bytes, path));
    }
}

void FaultyFiles::Files::lose_power(std::uint64_t seed) {
    heal();
    const std::lock_guard lock{mutex_};
    Random random{seed};
    for (auto& [path, state] : states_) {
        if (state.replaced) {
            static_cast<void>(WriteStringToFile(target(), *state.replaced, path));
        } else if (!state.name_safe) {
            static_cast<void>(target()->DeleteFile(path, {}, nullptr));
        } else {
            keep_prefix(path, state.synced + random.below(state.written - state.synced + 1));
        }
    }
    // What is left is on the disk.
    states_.clear();
}

namespace {

// RocksDB rests for a second after a flush that failed, also while it is being closed.
class ImpatientClock final : public rocksdb::SystemClockWrapper {
public:
    using SystemClockWrapper::SystemClockWrapper;
    const char* Name() const override { return "ImpatientClock"; }
    void SleepForMicroseconds(int micros) override { target_->SleepForMicroseconds(std::min(micros, 1'000)); }
};

class ImpatientEnv final : public rocksdb::EnvWrapper {
public:
    explicit ImpatientEnv(std::unique_ptr<rocksdb::Env> env) : EnvWrapper{std::move(env)} {
        file_system_ = target()->GetFileSystem();
        system_clock_ = std::make_shared<ImpatientClock>(rocksdb::SystemClock::Default());
    }
    const char* Name() const override { return "ImpatientEnv"; }
};

}  // namespace

FaultyFiles::FaultyFiles() : memory_{rocksdb::NewMemEnv(rocksdb::Env::Default())} {
    files_ = std::make_shared<Files>(memory_->GetFileSystem());
    env_ = std::make_unique<ImpatientEnv>(rocksdb::NewCompositeEnv(files_));
}
FaultyFiles::~FaultyFiles() = default;

rocksdb::Env* FaultyFiles::env() const { return env_.get(); }
void FaultyFiles::arm(FileFault fault) { files_->arm(fault, false); }
void FaultyFiles::cut_power_at(FileCall call, std::size_t nth) { files_->arm({call, nth}, true); }
void FaultyFiles::heal() { files_->heal(); }
std::size_t FaultyFiles::fired() const { return files_->fired(); }
bool FaultyFiles::synced_folder(const std::string& path) const { return files_->synced_folder(path); }
void FaultyFiles::lose_power(std::uint64_t seed) { files_->lose_power(seed); }
void FaultyFiles::set_free_space(std::uint64_t bytes) { files_->set_free_space(bytes); }

}  // namespace sluice::test
