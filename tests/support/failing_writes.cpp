// Fails the Nth write or sync of files below a folder, and all that follow, in the process that it is loaded
// into with LD_PRELOAD. FAIL_BELOW names the folder, FAIL_FROM the first call that fails, FAIL_ERROR the
// error number. With FAIL_ONCE only that one call fails.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

namespace {

long number_of(const char* variable) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
}

// True when this call is to fail.
bool fails(int file) {
    static const char* const folder = std::getenv("FAIL_BELOW");
    static const long first = number_of("FAIL_FROM");
    static const bool once = number_of("FAIL_ONCE") != 0;
    static std::atomic<long> calls = 0;
    if (folder == nullptr) {
        return false;
    }
    char path[4096];
    const ssize_t length =
        ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof path - 1);
    if (length < 0 || std::strncmp(path, folder, std::strlen(folder)) != 0) {
        return false;
    }
    const long call = ++calls;
    if (call < first || (once && call > first)) {
        return false;
    }
    errno = static_cast<int>(number_of("FAIL_ERROR"));
    return true;
}

template <class Call>
Call* real(const char* name) {
    return reinterpret_cast<Call*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t count) {
    static auto* const call = real<ssize_t(int, const void*, size_t)>("write");
    return fails(file) ? -1 : call(file, bytes, count);
}

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset) {
    static auto* const call = real<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
    return fails(file) ? -1 : call(file, bytes, count, offset);
}

ssize_t pwrite(int file, const void* bytes, size_t count, off_t offset) {
    static auto* const call = real<ssize_t(int, const void*, size_t, off_t)>("pwrite");
    return fails(file) ? -1 : call(file, bytes, count, offset);
}

int fdatasync(int file) {
    static auto* const call = real<int(int)>("fdatasync");
    return fails(file) ? -1 : call(file);
}

int fsync(int file) {
    static auto* const call = real<int(int)>("fsync");
    return fails(file) ? -1 : call(file);
}
}
