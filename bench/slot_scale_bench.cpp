// How does the cost of a slot grow with the number of slots that are stored? Fills one folder with random
// ids, batch by batch through the engine, and prints a line whenever the number has about doubled.
//
//   slot_scale_bench FOLDER SLOTS [CACHE_MIB]
//
// Columns: slots stored; rate, CPU and the slowest batch since the line before; memory of the process; the
// folder; and how the CPU time compares with that of a first million. A machine is not equally fast all the
// time, so first millions are stored again and again between the others, in a folder and a process of their
// own, and each line is compared with those of its own time.
// In the end the folder is opened again and the time that takes is printed.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "app/slots/slot_ledger.hpp"
#include "silent_world.hpp"
#include "slot_work.hpp"
#include "store/rocks/slots/rocks_slot_tables.hpp"

namespace sluice::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "slot_scale_bench: %s\n", why.c_str());
    std::exit(1);
}

double seconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double resident_mib() {
    std::size_t whole = 0;
    std::size_t resident = 0;
    std::ifstream{"/proc/self/statm"} >> whole >> resident;
    return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

double folder_mib(const std::string& folder) {
    double bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator{folder}) {
        std::error_code gone;  // RocksDB removes files at any time.
        const auto size = entry.file_size(gone);
        bytes += gone ? 0 : static_cast<double>(size);
    }
    return bytes / (1 << 20);
}

// 1, 2, 5, 10, 20, 50 ... millions.
std::size_t next_mark(std::size_t mark) {
    std::size_t power = 1;
    while (power * 10 <= mark) {
        power *= 10;
    }
    return mark / power == 2 ? mark / 2 * 5 : mark * 2;
}

class Filling {
public:
    Filling(const std::string& folder, std::optional<std::uint64_t> cache) : folder_{folder} {
        auto tables = open_rocks_slot_tables({.path = folder, .log = &log_, .cache = cache});
        if (!tables) {
            give_up(tables.error().what);
        }
        ledger_ = make_slot_ledger(std::move(*tables), {}, {clock_, metrics_, log_});
        const auto put =
            ledger_->put_config({*ConfigName::make("default"), kCap, kWindow, *PoolName::make("default")});
        if (!put) {
            give_up(put.error().detail);
        }
    }

    void run(std::size_t slots) {
        std::printf("%12s %12s %10s %14s %10s %10s %14s\n", "slots", "slots/s", "cpu us", "slowest ms",
                    "rss MiB", "disk MiB", "by first 1M");
        std::size_t stored = 0;
        for (std::size_t mark = std::min(slots, kFirst); stored < slots;
             mark = std::min(slots, next_mark(mark))) {
            const Stretch stretch = stored == 0 ? fill(mark) : fill_and_compare(mark - stored);
            stored = mark;
            const auto count = static_cast<double>(stretch.slots);
            std::printf("%12zu %12.0f %10.2f %14.1f %10.0f %10.0f %14.2f\n", stored, count / stretch.seconds,
                        stretch.cpu * 1e6 / count, stretch.slowest * 1e3, resident_mib(), folder_mib(folder_),
                        stretch.by_first);
            std::fflush(stdout);
        }
    }

private:
    static constexpr std::size_t kFirst = 1'000'000;

    // What some slots took; all times in seconds.
    struct Stretch {
        std::size_t slots = 0;
        double seconds = 0;
        double cpu = 0;
        double slowest = 0;
        double by_first = 1;  // CPU time a slot by that of a first million.
    };

    // In parts, with a first million after each of them.
    Stretch fill_and_compare(std::size_t slots) {
        constexpr std::size_t kPartsMax = 8;
        const std::size_t part = std::max(kFirst, slots / kPartsMax);
        Stretch all;
        double first = 0;
        int compared = 0;
        while (all.slots < slots) {
            const Stretch next = fill(std::min(part, slots - all.slots));
            all.slots += next.slots;
            all.seconds += next.seconds;
            all.cpu += next.cpu;
            all.slowest = std::max(all.slowest, next.slowest);
            // Merges that go on meanwhile are this process's own work.
            const double cpu = cpu_seconds();
            first += first_million_us();
            all.cpu += cpu_seconds() - cpu;
            ++compared;
        }
        all.by_first = all.cpu * 1e6 / static_cast<double>(all.slots) / (first / compared);
        return all;
    }

    // CPU time a slot of this program's first line, in another folder.
    double first_million_us() {
        const std::string folder = folder_ + ".first";
        const std::string command =
            "/proc/" + std::to_string(getpid()) + "/exe '" + folder + "' " + std::to_string(kFirst);
        std::FILE* lines = popen(command.c_str(), "r");
        std::size_t slots = 0;
        double rate = 0;
        double cpu = 0;
        const bool read =
            lines != nullptr && std::fscanf(lines, "%*[^\n] %zu %lf %lf", &slots, &rate, &cpu) == 3;
        while (lines != nullptr && std::fgetc(lines) != EOF) {
        }
        if (!read || pclose(lines) != 0) {
            give_up("cannot store a first million to compare with");
        }
        std::filesystem::remove_all(folder);
        return cpu;
    }

    Stretch fill(std::size_t slots) {
        const auto start = SteadyClock::now();
        const double cpu = cpu_seconds();
        double slowest = 0;
        for (std::size_t left = slots; left > 0;) {
            const std::size_t count = std::min(left, kBatch);
            std::vector<SlotCommand> commands;
            commands.reserve(count);
            for (std::size_t i = 0; i < count; ++i) {
                commands.emplace_back(
                    AssignSlot{ids_.next(), *ConfigName::make("default"), SlotAsk{kRequested}});
            }
            const auto asked = SteadyClock::now();
            for (const SlotReply& reply : ledger_->execute(commands)) {
                if (const auto& outcome = std::get<SlotOutcome>(reply); !outcome) {
                    give_up(outcome.error().detail);
                }
            }
            slowest = std::max(slowest, seconds_since(asked));
            left -= count;
        }
        return {slots, seconds_since(start), cpu_seconds() - cpu, slowest};
    }

    const std::string folder_;
    SystemClock clock_;
    NoMetrics metrics_;
    TroubleLog log_;
    EventIds ids_{static_cast<std::uint64_t>(getpid())};
    std::unique_ptr<SlotStore> ledger_;
};

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fputs("usage: slot_scale_bench FOLDER SLOTS [CACHE_MIB]\n", stderr);
        return 2;
    }
    const std::string folder = argv[1];
    std::optional<std::uint64_t> cache;
    if (argc > 3) {
        cache = std::strtoull(argv[3], nullptr, 10) << 20U;
    }
    sluice::bench::Filling{folder, cache}.run(std::strtoull(argv[2], nullptr, 10));
    const auto start = sluice::bench::SteadyClock::now();
    const auto opened = sluice::open_rocks_slot_tables({.path = folder, .cache = cache});
    std::printf("%s again after %.2f s\n", opened ? "open" : "NOT open", sluice::bench::seconds_since(start));
    return opened ? 0 : 1;
}
