#pragma once

#include <mutex>

#include "app/dispatch/dispatch_terms.hpp"
#include "store/postgres/client/connection.hpp"

namespace sluice::postgres {

// The terms of all dispatch, read again only when somebody has changed them.
// Thread safety: all of it.
class TermsReader {
public:
    // Asks, with statements that go along with others, whether they are as they were.
    static void queue_version(Connection& connection);

    // The terms as of then or later. `rows`: what queue_version() gave. Reads them, in a round trip, if
    // they changed.
    // REQUIRES: nothing is queued.
    Result<TermsRef, Failure> read(Connection& connection, const Rows& rows);

private:
    struct Version {
        std::int64_t changes = -1;  // Of holds and rates.
        std::int64_t newest_config = -1;

        bool operator==(const Version&) const = default;
    };

    std::mutex mutex_;
    Version version_{};  // Guarded by mutex_, like the next.
    TermsRef terms_{};
};

}  // namespace sluice::postgres
