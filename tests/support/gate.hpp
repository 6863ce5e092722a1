#pragma once

#include <semaphore>

namespace sluice::test {

// A place where a worker can be held: it arrives and stays until the test lets it go on.
class Gate {
public:
    // By the worker.
    void pass() {
        arrived_.release();
        open_.acquire();
    }

    // By the test: returns when a worker stands at the gate.
    void await_arrival() { arrived_.acquire(); }
    // Whether one does already.
    bool has_arrival() { return arrived_.try_acquire(); }
    void let_go() { open_.release(); }

private:
    std::counting_semaphore<> arrived_{0};
    std::counting_semaphore<> open_{0};
};

}  // namespace sluice::test
