#pragma once

namespace sluice {

// Asks for the line of this address, to change it. On x86-64 the compiler's own hint fetches a line that
// another core has changed as a shared one, for which the change then asks once more; processors that do not
// know the instruction ignore it.
inline void prefetch_to_change(const void* address) {
#if defined(__x86_64__)
    asm volatile("prefetchw (%0)" : : "r"(address));
#else
    __builtin_prefetch(address, 1);
#endif
}

}  // namespace sluice
