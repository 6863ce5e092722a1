#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "base/repeating.hpp"
#include "core/slots/slot.hpp"
#include "store/postgres/client/connection_pool.hpp"

namespace sluice::postgres {

// Gives windows their counters, in whole chunks, and notes which chunks are full, in transactions of its own.
// Thread safety: all of it.
class Provisioner {
public:
    Provisioner(ConnectionSource& pool, Log& log, Runtime& runtime);

    // Windows by their start in milliseconds. Gives those that another transaction, which has not ended, is
    // at.
    Result<std::vector<std::int64_t>, Failure> provision(const PoolName& pool,
                                                         const std::vector<std::int64_t>& windows);

    // The same soon, in the background: nobody needs them yet.
    void provision_soon(const PoolName& pool, std::vector<std::int64_t> windows);

    // A batch has placed events up to this window. Once in a hundred windows, what lies behind is noted as
    // full in the background, for the searches of the SQL function.
    void filled_up_to(const PoolName& pool, WindowIndex window, Duration window_size);

private:
    Result<std::vector<std::int64_t>, Failure> try_once(const PoolName& pool,
                                                        const std::vector<std::int64_t>& windows);
    Result<void, Failure> note_full(const PoolName& pool, std::int64_t window);
    void do_what_waits();

    ConnectionSource& pool_;
    Log& log_;
    std::mutex mutex_;
    std::map<PoolName, std::vector<std::int64_t>> waiting_;  // Guarded by mutex_. The latest wish of each.
    std::map<PoolName, std::int64_t> filled_;                // Guarded by mutex_. To be noted.
    std::map<PoolName, WindowIndex> hundreds_;               // Guarded by mutex_. What was noted last.
    Repeating background_;                                   // Last: it uses all of the above.
};

}  // namespace sluice::postgres
