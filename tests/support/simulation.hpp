#pragma once

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "support/limit_words.hpp"
#include "support/virtual_runtime.hpp"

namespace sluice::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr std::uint64_t kSeeds = 20;  // There a world takes fifty times as long.
#else
inline constexpr std::uint64_t kSeeds = 200;
#endif

// What happened in a simulated world, line by line, and what became of each request.
class Story {
public:
    struct Request {
        Wait submitted;
        Wait answered{};
        int answers = 0;
        std::string outcome{};
    };

    explicit Story(const HandMomentClock& clock) : clock_{clock} {}

    // Since the beginning.
    [[nodiscard]] Wait now() const { return clock_.now() - begin_; }
    void tell(const std::string& what) { text_ += std::to_string(now().count()) + " " + what + "\n"; }

    void submit(const std::string& name) {
        tell(name);
        EXPECT_TRUE(requests_.emplace(name, Request{now()}).second);
    }
    void answer(const std::string& name, const std::string& outcome) {
        tell(name + " -> " + outcome);
        Request& request = requests_.at(name);
        request.answered = now();
        request.outcome = outcome;
        ++request.answers;
    }

    [[nodiscard]] const std::map<std::string, Request>& requests() const { return requests_; }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    const HandMomentClock& clock_;
    const Moment begin_ = clock_.now();
    std::map<std::string, Request> requests_;
    std::string text_;
};

}  // namespace sluice::test
