// A Result that is asked for the side it does not have fails the test that runs, at the line that asked.
#include <array>
#include <cstdio>
#include <memory>
#include <string_view>

#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>

#include <sluice/wrong_side.hpp>

#ifdef NDEBUG
#error "Tests need asserts: build them with one of the presets checked, dev, asan and tsan."
#endif

namespace sluice {
namespace {

struct Place {
    std::string file = "unknown file";
    int line = -1;
};

std::string output_of(const std::string& command) {
    std::string output;
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe{popen(command.c_str(), "re"), pclose};
    std::array<char, 4096> piece{};
    while (pipe && std::fgets(piece.data(), piece.size(), pipe.get()) != nullptr) {
        output += piece.data();
    }
    return output;
}

// The innermost line of the stack that is neither here nor in the headers of Result, inlined ones included.
// Debug information says where that is; a test program is compiled with as much of it as this needs.
Place who_asked() {
    std::array<void*, 16> stack{};
    const auto depth = static_cast<std::size_t>(backtrace(stack.data(), static_cast<int>(stack.size())));
    for (std::size_t i = 1; i < depth; ++i) {
        Dl_info module{};
        if (dladdr(stack.at(i), &module) == 0) {
            continue;
        }
        // A return address is behind its call, and may belong to the next line.
        const auto offset = static_cast<char*>(stack.at(i)) - static_cast<char*>(module.dli_fbase) - 1;
        std::array<char, 32> address{};
        std::snprintf(address.data(), address.size(), "%#tx", offset);
        const std::string places =
            output_of(std::string{"addr2line -i -e '"} + module.dli_fname + "' " + address.data());
        for (std::size_t from = 0, to = 0; (to = places.find('\n', from)) != std::string::npos;
             from = to + 1) {
            const std::string_view place = std::string_view{places}.substr(from, to - from);
            const std::size_t colon = place.rfind(':');
            const std::string_view file = place.substr(0, colon);
            if (file.ends_with("sluice/result.hpp") || file.ends_with("wrong_side.hpp") ||
                file.ends_with("wrong_side.cpp") || file.starts_with("?")) {
                continue;
            }
            return {std::string{file}, std::atoi(std::string{place.substr(colon + 1)}.c_str())};
        }
    }
    return {};
}

// "sluice::Failure" of "bool report(...) [with Held = sluice::Failure]".
std::string type_in(std::string_view function) {
    constexpr std::string_view kBefore = "Held = ";
    const std::size_t begin = function.find(kBefore);
    return begin == std::string_view::npos
               ? std::string{function}
               : std::string{
                     function.substr(begin + kBefore.size(), function.rfind(']') - begin - kBefore.size())};
}

}  // namespace

namespace wrong_side {

void found(const Mistake& mistake) {
    const Place place = who_asked();
    const std::string text = std::string{"A Result was asked for "} + mistake.asked + ", and holds a " +
                             type_in(mistake.held) + (mistake.text.empty() ? "" : ": " + mistake.text);
    // Reported here, because code under test may catch what is thrown, and a thread of its own cannot throw.
    ADD_FAILURE_AT(place.file.c_str(), place.line) << text;
    throw testing::AssertionException{testing::TestPartResult{testing::TestPartResult::kFatalFailure,
                                                              place.file.c_str(), place.line, text.c_str()}};
}

}  // namespace wrong_side
}  // namespace sluice
