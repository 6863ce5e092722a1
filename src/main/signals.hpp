#pragma once

#include <csignal>

namespace sluice {

// The signals that a role waits for, kept from every thread, so that nothing ever runs inside a handler.
class Signals {
public:
    // REQUIRES: called before any other thread starts, because threads inherit what is blocked.
    Signals();

    // SIGTERM, SIGINT or SIGHUP, the next of them.
    [[nodiscard]] int wait() const;

    // From now on SIGTERM and SIGINT end the process at once.
    static void let_through();

private:
    sigset_t awaited_{};
};

}  // namespace sluice
