#pragma once

#include <memory>
#include <optional>

#include "app/slots/slot_ledger.hpp"
#include "store/postgres/client/server.hpp"
#include "store/postgres/client/shared_work_store.hpp"
#include "store/postgres/slots/due_bell.hpp"
#include "store/postgres/slots/store_health.hpp"

namespace sluice {

// Two equivalent ways to assign.
enum class AssignWay {
    Batch,     // Many events in a transaction, planned here.
    Function,  // One event in a transaction, planned by the server.
};

struct PostgresSlotOptions {
    LedgerOptions ledger;
    AssignWay way = AssignWay::Batch;
    std::size_t batch_max = 256;          // Events of one transaction.
    std::int32_t windows_in_chunk = 100;  // Of pools that are made from now on.
    // Slots whose window ended longer ago are removed, and their events forgotten. None: kept for ever.
    std::optional<Duration> retention{};
};

// A SlotStore on a PostgreSQL that any number of nodes share.
class PostgresSlotStore : public SlotStore {
public:
    [[nodiscard]] virtual postgres::HealthFigures health_figures() const = 0;
    // From now on `call` is told, soon after the commit and by any thread, when the earliest of works is due
    // that this node or another has put into lane Due with their slots; by a time gone by also when a config
    // was changed, and when news may have been missed. It must be quick and not call the store. Null: no
    // longer; when this returns no call is under way.
    virtual void on_due(postgres::DueBell::Call call) = 0;
};

// Waits for the first connections. What is wrong is said in one sentence. `works`: where the works of its
// slots are looked after; null: by other nodes only.
Result<std::unique_ptr<PostgresSlotStore>, std::string> open_postgres_slot_store(
    std::shared_ptr<postgres::Server> server, const PostgresSlotOptions& options, LedgerWorld world,
    std::unique_ptr<postgres::SharedWorkStore> works = nullptr);

// What a look at a schema found.
struct PostgresExamination {
    std::int64_t counters_wrong = 0;      // Those that differ from a recount; 0 when none was asked for.
    std::vector<std::string> concerns{};  // One sentence each.
};

// Looks at a schema without changing it, but for a small write that leaves nothing. Says what is wrong in one
// sentence.
Result<PostgresExamination, std::string> examine_postgres_slots(const std::string& dsn, bool recount,
                                                                const Clock& clock);

}  // namespace sluice
