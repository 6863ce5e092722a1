#pragma once

#include <functional>
#include <variant>

#include "app/combiner.hpp"
#include "app/dispatch/dispatch_error.hpp"
#include "app/dispatch/dispatcher.hpp"
#include "app/dispatch/work_store.hpp"
#include "base/log.hpp"

namespace sluice {

struct DispatchServiceOptions {
    std::size_t queries_max = 1024;            // Calls that may wait.
    std::chrono::milliseconds patience{5000};  // How long a call may wait for its turn.
    std::size_t workers = 1;                   // How many calls run at once.
};

// What surrounds the service. All of it outlives the service.
struct DispatchServiceWorld {
    WorkStore& store;
    const Clock& clock;
    Log& log;
    Runtime& runtime;
    std::function<DispatchFigures()> figures;  // Of this process, by any thread; never blocks for long.
};

// How dispatch stands.
struct DispatchOverview {
    TermsRef terms;
    std::vector<LaneCount> counts;
    DispatchFigures figures;  // Of this process alone.
};

// What operators ask of dispatch, for every door. Nothing here blocks the caller; completions run on a
// worker, by a timer, or within the call. `by` is who asks, for the audit.
// Thread safety: all of it.
class DispatchService {
public:
    DispatchService(DispatchServiceOptions options, DispatchServiceWorld world);

    template <class T>
    using Done = UniqueFunction<void(Result<T, DispatchError>)>;

    void list(WorkFilter filter, Done<WorkPage> done);
    // How many of the dead are to be tried again. REQUIRES: the request names something.
    void replay(ReplayRequest request, std::string by, Done<std::uint64_t> done);
    // Sends nothing to the subject any more, until it is resumed; also over restarts.
    void pause(Subject subject, std::string by, Done<std::monostate> done);
    // Ends what keeps the subject: a pause, or that an endpoint said it is gone. A host is resumed with all
    // endpoints of it that are held.
    void resume(Subject subject, std::string by, Done<std::monostate> done);
    // Nothing: takes the operator's rate away; those of configs stay. REQUIRES: a pool or a host.
    void put_rate(Subject subject, std::optional<GateTerms> rate, std::string by, Done<std::monostate> done);
    void overview(Done<DispatchOverview> done);

    // Refuses new calls and returns when all that was accepted is done.
    void stop() { queries_.stop(); }

private:
    using Query = UniqueFunction<void()>;

    // Lets a thread that may block make the call, which gives a Result<T, StoreError>.
    template <class T, class Call>
    void ask(Call call, Done<T> done);

    const DispatchServiceOptions options_;
    const DispatchServiceWorld world_;
    Combiner<Query, std::monostate> queries_;
};

}  // namespace sluice
