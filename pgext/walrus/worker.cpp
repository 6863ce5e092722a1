#include "worker.hpp"

#include <algorithm>

#include "boundary.hpp"
#include "cycle.hpp"
#include "history.hpp"
#include "postgres_api.hpp"
#include "settings.hpp"
#include "standing.hpp"

extern "C" {
PGDLLEXPORT void walrus_worker_main(Datum argument);
}

namespace sluice::walrus {
namespace {

constexpr const char* kWorkerName = "pg_walrus";

// Into one of PostgreSQL's fields of fixed length.
template <class Field>
void put(Field& field, const char* text) {
    snprintf(field, sizeof(field), "%s", text);
}

void set_worker_pid(int pid) {
    with_standing([pid](Standing& standing) { standing.worker_pid = pid; });
}

void sign_off(int /*code*/, Datum /*argument*/) { set_worker_pid(0); }

void connect() {
    pqsignal(SIGHUP, SignalHandlerForConfigReload);
    pqsignal(SIGTERM, die);  // Also ends a wait for a lock inside a query.
    BackgroundWorkerUnblockSignals();
    BackgroundWorkerInitializeConnection(settings().database, nullptr, 0);
    // Whoever locks the history must not stop the governor; whoever owns a schema must not lend it operators.
    SetConfigOption("lock_timeout", "5s", PGC_SUSET, PGC_S_OVERRIDE);
    SetConfigOption("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_OVERRIDE);
    before_shmem_exit(sign_off, Datum{0});
    set_worker_pid(MyProcPid);
    ereport(LOG, (errmsg("pg_walrus: worker started")));
}

void wait_until(std::int64_t deadline_ms) {
    const auto wait = static_cast<long>(std::max<std::int64_t>(deadline_ms - steady_ms(), 0));
    WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, wait, PG_WAIT_EXTENSION);
    ResetLatch(MyLatch);
}

void leave_if_told() {
    if (ProcDiePending) {
        ProcDiePending = false;  // Else the next line is PostgreSQL's own, and FATAL.
        ereport(LOG, (errmsg("pg_walrus: worker shutting down")));
        // Not 0: then PostgreSQL would never start it again after pg_terminate_backend().
        proc_exit(1);
    }
    CHECK_FOR_INTERRUPTS();
}

// Reads the configuration if told to. A reload starts no cycle and cuts no interval short, whoever asked for
// it.
void reload_if_told() {
    if (!ConfigReloadPending) {
        return;
    }
    ConfigReloadPending = false;
    const bool was_enabled = settings().enable;
    ProcessConfigFile(PGC_SIGHUP);
    if (settings().enable && !was_enabled) {
        with_standing([](Standing& standing) { standing.watch.forget(); });
    }
    ereport(DEBUG1, (errmsg_internal("pg_walrus: configuration reloaded")));
}

void work(MemoryContext context) {
    MemoryContextSwitchTo(context);
    MemoryContextReset(context);
    run_guarded(
        "this interval", [](void*) { run_cycle(); }, nullptr);
    in_transaction("removing old history", [] {
        // Without the extension in this database there is nothing to remove, and no need to say so each time.
        if (OidIsValid(get_namespace_oid("walrus", true))) {
            remove_old_history();
        }
    });
    pgstat_report_stat(true);
    pgstat_report_activity(STATE_IDLE, nullptr);
}

}  // namespace

void register_worker() {
    BackgroundWorker worker{};
    worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
    worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
    worker.bgw_restart_time = CheckPointTimeout;
    put(worker.bgw_name, kWorkerName);
    put(worker.bgw_type, kWorkerName);
    put(worker.bgw_library_name, "walrus");
    put(worker.bgw_function_name, "walrus_worker_main");
    RegisterBackgroundWorker(&worker);
}

}  // namespace sluice::walrus

void walrus_worker_main(Datum /*argument*/) {
    using namespace sluice::walrus;  // NOLINT(google-build-using-namespace)
    connect();
    MemoryContext context = AllocSetContextCreate(TopMemoryContext, "walrus cycle", ALLOCSET_DEFAULT_SIZES);
    with_standing([](Standing& standing) { standing.watch.forget(); });
    std::int64_t began = steady_ms();
    work(context);  // The baseline of the first interval.
    while (true) {
        wait_until(began + std::int64_t{interval_seconds()} * 1000);
        leave_if_told();
        reload_if_told();
        if (steady_ms() >= began + std::int64_t{interval_seconds()} * 1000) {
            began = steady_ms();
            work(context);
        }
    }
}
