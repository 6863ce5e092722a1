#pragma once

#include <cstdint>

namespace sluice {

// What the kernel says about this process. A figure that cannot be had is 0.
struct ProcessFigures {
    double cpu_seconds = 0;
    double start_seconds = 0;  // Since 1970.
    std::uint64_t resident_bytes = 0;
    std::uint64_t files_open = 0;
    std::uint64_t files_max = 0;
};

ProcessFigures read_process_figures();

// Lets the process open as many files, and so connections, as it may. Gives the number.
std::uint64_t raise_files_max();

}  // namespace sluice
