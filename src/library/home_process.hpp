#pragma once

#include <unistd.h>

namespace sluice {

// The process in which something was made. A child of fork() has a copy of its memory, but none of its
// threads, shares its connections, and may find its locks held for ever.
class HomeProcess {
public:
    [[nodiscard]] bool is_left() const { return ::getpid() != process_; }

private:
    pid_t process_ = ::getpid();
};

}  // namespace sluice
