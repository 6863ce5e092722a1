#pragma once

#include <string>

#include "support/temp_folder.hpp"

namespace sluice::test {

enum class DiskKind { Tmpfs, Ext4 };

// A real file system of some megabytes, mounted for this process and its children only. Needs root.
class SmallDisk {
public:
    SmallDisk(DiskKind kind, std::size_t mebibytes);
    ~SmallDisk();
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    [[nodiscard]] std::string operator/(const std::string& name) const { return place_ + "/" + name; }

    // Somebody else takes all that is free, or all but `left` bytes.
    void fill(std::size_t left = 0) const;
    // And gives it back.
    void free() const;

private:
    TempFolder folder_;
    std::string place_ = folder_ / "disk";
};

}  // namespace sluice::test
