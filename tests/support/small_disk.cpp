#include "support/small_disk.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace sluice::test {
namespace {

void must(bool done, const std::string& what) {
    if (!done) {
        throw std::runtime_error{"cannot " + what + ": " + std::strerror(errno)};
    }
}

// Mounts of this process are nobody else's from here on, and go with it. Where / is no mount point, in a
// changed root, others may see them until they are unmounted.
void stand_apart() {
    static const bool kApart = [] {
        must(::unshare(CLONE_NEWNS) == 0, "leave the mounts of others");
        must(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 || errno == EINVAL,
             "keep mounts to ourselves");
        return true;
    }();
    static_cast<void>(kApart);
}

}  // namespace

SmallDisk::SmallDisk(DiskKind kind, std::size_t mebibytes) {
    stand_apart();
    std::filesystem::create_directory(place_);
    const std::string size = std::to_string(mebibytes) + "M";
    if (kind == DiskKind::Tmpfs) {
        must(::mount("tmpfs", place_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0, "mount a tmpfs");
        return;
    }
    const std::string image = folder_ / "image";
    const std::string make = "truncate -s " + size + " " + image + " && mkfs.ext4 -q -m 0 " + image +
                             " && mount -o loop " + image + " " + place_;
    must(std::system(make.c_str()) == 0, "mount an ext4 file system");
}

SmallDisk::~SmallDisk() { ::umount2(place_.c_str(), MNT_DETACH); }

void SmallDisk::fill(std::size_t left) const {
    struct statvfs disk {};
    must(::statvfs(place_.c_str(), &disk) == 0, "look at the disk");
    const int file = ::open((place_ + "/filler").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    must(file >= 0, "make a file");
    const std::vector<char> bytes(std::size_t{1} << 16U, 'x');
    std::size_t wanted = disk.f_bfree * disk.f_frsize;
    wanted -= std::min(wanted, left);
    // To the very last byte when nothing is to be left, also of what the file system keeps for itself.
    for (std::size_t step = bytes.size(); step > 0 && (wanted > 0 || left == 0);) {
        const ssize_t written = ::write(file, bytes.data(), left == 0 ? step : std::min(step, wanted));
        if (written <= 0) {
            step /= 2;
        } else {
            wanted -= std::min(wanted, static_cast<std::size_t>(written));
        }
    }
    ::fsync(file);
    ::close(file);
}

void SmallDisk::free() const { std::filesystem::remove(place_ + "/filler"); }

}  // namespace sluice::test
