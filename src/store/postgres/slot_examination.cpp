#include "store/postgres/postgres_slot_store.hpp"
#include "store/postgres/slot_schema.hpp"

namespace sluice {

using namespace postgres;

Result<std::int64_t, std::string> examine_postgres_slots(const std::string& dsn, bool recount) {
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
    if (!recount) {
        return 0;
    }
    const auto rows = (*connection)->run(kDifferences);
    if (!rows) {
        return Unexpected{rows.error().message};
    }
    return rows->number(0, 0).value_or(-1);
}

}  // namespace sluice
