#include "store/memory/entry_memory.hpp"

#include <new>

#include <sys/mman.h>

namespace sluice {

EntryMemory::EntryMemory(std::size_t entries)
    : count_{entries},
      memory_{mmap(nullptr, entries * sizeof(LimitEntry), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)} {
    if (memory_ == MAP_FAILED) {
        throw std::bad_alloc{};
    }
#if defined(MADV_HUGEPAGE)
    madvise(memory_, entries * sizeof(LimitEntry), MADV_HUGEPAGE);  // Without it everything works, slower.
#endif
}

EntryMemory::~EntryMemory() { munmap(memory_, count_ * sizeof(LimitEntry)); }

std::span<LimitEntry> EntryMemory::entries() const { return {static_cast<LimitEntry*>(memory_), count_}; }

}  // namespace sluice
