#include "store/postgres/client/schema.hpp"
#include "store/postgres/slots/postgres_slot_store.hpp"

namespace sluice {

using namespace postgres;

Result<PostgresExamination, std::string> examine_postgres_slots(const std::string& dsn, bool recount,
                                                                const Clock& clock) {
    constexpr Statement kDifferences{"differences",
                                     "select count(*) from sluice.recount where counted <> recounted"};
    ConnectSettings settings;
    settings.dsn = dsn;
    auto connection = Connection::open(migration_settings(settings));
    if (!connection) {
        return Unexpected{cannot_connect(connection.error())};
    }
    if (const auto checked = check_slots_migrated(**connection); !checked) {
        return Unexpected{checked.error().message};
    }
    PostgresExamination found;
    const auto proof = StoreHealth::prove(**connection, clock);
    if (!proof) {
        return Unexpected{"PostgreSQL cannot store anything: " + proof.error().message};
    }
    if (const auto differs = clock_sentence(proof->clock_difference)) {
        found.concerns.push_back(*differs);
    }
    if (!proof->durable) {
        found.concerns.emplace_back(kNotDurable);
    }
    if (!recount) {
        return found;
    }
    const auto rows = (*connection)->run(kDifferences);
    if (!rows) {
        return Unexpected{rows.error().message};
    }
    found.counters_wrong = rows->number(0, 0).value_or(-1);
    return found;
}

}  // namespace sluice
