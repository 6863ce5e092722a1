#include "boundary.hpp"

#include "postgres_api.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace sluice::walrus {
namespace {

struct InTransaction {
    Step step;
    void* argument;
};

void commit_around(void* argument) {
    const auto* inner = static_cast<const InTransaction*>(argument);
    SetCurrentStatementStartTimestamp();  // Else now() would stand still: no client sends statements here.
    StartTransactionCommand();
    PushActiveSnapshot(GetTransactionSnapshot());
    inner->step(inner->argument);
    PopActiveSnapshot();
    CommitTransactionCommand();
}

// A longjmp out of PostgreSQL's own code is not seen by the address sanitizer, which then takes the frames it
// left for live ones. Does nothing in any other build.
void forget_left_frames() {
#ifdef __SANITIZE_ADDRESS__
    constexpr std::size_t kReach = 65'536;
    const char here = 0;
    __asan_unpoison_memory_region(&here - kReach, kReach);
#endif
}

// Takes the ERROR out of PostgreSQL's stack, undoes what it interrupted, and tells.
void recover(const char* what, MemoryContext context) {
    forget_left_frames();
    MemoryContextSwitchTo(context);
    ErrorData* error = CopyErrorData();
    FlushErrorState();
    AbortCurrentTransaction();
    LWLockReleaseAll();  // Without a transaction nobody else has released them.
    MemoryContextSwitchTo(context);
    ereport(WARNING, (errcode(error->sqlerrcode), errmsg("pg_walrus: %s failed: %s", what, error->message)));
    FreeErrorData(error);
}

}  // namespace

bool run_guarded(const char* what, Step step, void* argument) {
    MemoryContext context = CurrentMemoryContext;
    volatile bool done = false;  // Changed between setjmp and longjmp.
    PG_TRY();
    {
        step(argument);
        done = true;
    }
    PG_CATCH();
    { recover(what, context); }
    PG_END_TRY();
    MemoryContextSwitchTo(context);  // A commit leaves another one behind.
    return done;
}

bool run_in_transaction(const char* what, Step step, void* argument) {
    InTransaction inner{step, argument};
    return run_guarded(what, commit_around, &inner);
}

}  // namespace sluice::walrus
