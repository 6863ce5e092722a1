#pragma once

#include <type_traits>

namespace sluice::walrus {

// The one place where PostgreSQL's errors are caught. They are longjmps, so no value with a destructor may
// live in a frame they leave. The module is compiled without C++ exceptions: there are none to let through.

using Step = void (*)(void* argument);

// Runs `step` in a transaction of its own. True once it is committed. An ERROR undoes it, is reported as a
// WARNING that starts with "pg_walrus: <what> failed", and goes no further.
// REQUIRES: no transaction is open; called by the worker only.
bool run_in_transaction(const char* what, Step step, void* argument);

// Runs `step` outside a transaction; what it leaves open after an ERROR is undone. Reports like the above.
bool run_guarded(const char* what, Step step, void* argument);

// The same for any function object.
template <class Function>
bool in_transaction(const char* what, Function function) {
    static_assert(std::is_trivially_destructible_v<Function>);
    return run_in_transaction(
        what, [](void* argument) { (*static_cast<Function*>(argument))(); }, &function);
}

}  // namespace sluice::walrus
