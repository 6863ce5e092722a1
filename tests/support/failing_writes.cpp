// Fails the Nth write or sync of files below a folder, and all that follow, in the process that it is loaded
// into with LD_PRELOAD. FAIL_BELOW names the folder, FAIL_FROM the first call that fails, FAIL_ERROR the
// error number. With FAIL_ONCE only that one call fails.
#include <array>
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
    static const char* const kFolder = std::getenv("FAIL_BELOW");
    static const long kFirst = number_of("FAIL_FROM");
    static const bool kOnce = number_of("FAIL_ONCE") != 0;
    static std::atomic<long> calls = 0;
    if (kFolder == nullptr) {
        return false;
    }
    std::array<char, 4096> path{};
    const ssize_t length =
        ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path.data(), path.size() - 1);
    if (length < 0 || std::strncmp(path.data(), kFolder, std::strlen(kFolder)) != 0) {
        return false;
    }
    const long call = ++calls;
    if (call < kFirst || (kOnce && call > kFirst)) {
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

// Parameters have the names that the C library gives them.
extern "C" {

ssize_t write(int fd, const void* buf, size_t n) {
    static auto* const kCall = real<ssize_t(int, const void*, size_t)>("write");
    return fails(fd) ? -1 : kCall(fd, buf, n);
}

ssize_t pwrite64(int fd, const void* buf, size_t n, off64_t offset) {
    static auto* const kCall = real<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
    return fails(fd) ? -1 : kCall(fd, buf, n, offset);
}

ssize_t pwrite(int fd, const void* buf, size_t n, off_t offset) {
    static auto* const kCall = real<ssize_t(int, const void*, size_t, off_t)>("pwrite");
    return fails(fd) ? -1 : kCall(fd, buf, n, offset);
}

int fdatasync(int fildes) {
    static auto* const kCall = real<int(int)>("fdatasync");
    return fails(fildes) ? -1 : kCall(fildes);
}

int fsync(int fd) {
    static auto* const kCall = real<int(int)>("fsync");
    return fails(fd) ? -1 : kCall(fd);
}
}
