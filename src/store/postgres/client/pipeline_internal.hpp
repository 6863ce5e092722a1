#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/postgres/client/wire_internal.hpp"

namespace sluice::postgres {

struct Queued {
    Statement statement;
    Parameters parameters;
};

// What a statement does to the transaction it is run in.
enum class Effect { Begins, Commits, RollsBack, Works };
Effect effect_of(std::string_view sql);

// One trip of queued statements to the server and back, in libpq's pipeline mode.
class Pipeline {
public:
    // Where the server is told to commit what belongs to no explicit transaction.
    enum class Syncs { Last, Each };

    // `prepared` holds the names that the session knows, and learns new ones.
    Pipeline(Wire& wire, std::unordered_set<std::string>& prepared, std::vector<Queued> queued);

    // One outcome for each statement: rows, the failure, or neither, when it was skipped because of the
    // failure of another.
    struct Outcome {
        std::optional<Rows> rows;
        std::optional<Failure> failure;
    };
    std::vector<Outcome> run(Syncs syncs);

private:
    enum class Kind { Parse, Execute, Sync };
    struct Step {
        Kind kind;
        std::size_t item;  // For a Sync the last of those it ends.
    };

    void plan(Syncs syncs);
    // True unless the connection is lost.
    bool send_some();
    bool send(const Step& step);
    void take_results();
    void take(ResultPointer result);
    void take_failure(const Step& step, const PGresult* result);
    void settle(std::size_t last);
    void lose(const Failure& failure);
    [[nodiscard]] bool may_commit(std::size_t first, std::size_t end) const;

    Wire& wire_;
    std::unordered_set<std::string>& prepared_;
    const std::vector<Queued> queued_;
    const bool in_transaction_;  // When the trip began.
    std::vector<Step> steps_;
    std::vector<Outcome> outcomes_;
    std::unordered_map<std::string, Failure> unprepared_;  // Names that could not be prepared on this trip.
    std::size_t sent_ = 0;                                 // Steps handed to libpq.
    std::size_t done_ = 0;                                 // Steps answered.
    std::size_t segment_ = 0;                              // The first step whose Sync is not answered.
    std::size_t unflushed_ = 0;  // Bytes handed over since libpq's buffer was empty.
};

}  // namespace sluice::postgres
