#include "main/process_figures.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace sluice {
namespace {

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

std::uint64_t resident_bytes() {
    std::ifstream file{"/proc/self/statm"};
    std::uint64_t total_pages = 0;
    std::uint64_t resident_pages = 0;
    file >> total_pages >> resident_pages;
    return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// The machine's start, plus the process's own in clock ticks: field 22 of its stat, where field 2 is a
// name in brackets that may hold spaces.
double start_seconds() {
    std::ifstream stat{"/proc/self/stat"};
    std::string line;
    std::getline(stat, line);
    const std::size_t bracket = line.rfind(')');
    if (bracket == std::string::npos) {
        return 0;
    }
    std::istringstream fields{line.substr(bracket + 1)};
    std::string ticks;
    for (int field = 3; field <= 22 && fields >> ticks; ++field) {
    }
    std::ifstream machine{"/proc/stat"};
    std::string word;
    while (machine >> word && word != "btime") {
    }
    double boot = 0;
    machine >> boot;
    return boot + std::strtod(ticks.c_str(), nullptr) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::uint64_t files_open() {
    std::error_code error;
    const std::filesystem::directory_iterator files{"/proc/self/fd", error};
    // One of them is the listing itself.
    return error ? 0 : static_cast<std::uint64_t>(std::distance(begin(files), end(files))) - 1;
}

}  // namespace

ProcessFigures read_process_figures() {
    ProcessFigures figures;
    rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) == 0) {
        figures.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    }
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        figures.files_max = limit.rlim_cur;
    }
    figures.start_seconds = start_seconds();
    figures.resident_bytes = resident_bytes();
    figures.files_open = files_open();
    return figures;
}

std::uint64_t raise_files_max() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return 0;
    }
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

}  // namespace sluice
