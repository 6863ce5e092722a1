#include "history.hpp"

#include <array>

#include "json_text.hpp"
#include "postgres_api.hpp"
#include "settings.hpp"

namespace sluice::walrus {
namespace {

bool history_exists() {
    const Oid schema = get_namespace_oid("walrus", true);
    if (OidIsValid(schema) && OidIsValid(get_relname_relid("history", schema))) {
        return true;
    }
    ereport(WARNING, (errmsg("pg_walrus: history table does not exist in database \"%s\"",
                             get_database_name(MyDatabaseId)),
                      errhint("Run CREATE EXTENSION walrus there.")));
    return false;
}

// Runs one statement whose parameters are all there, and counts its rows.
template <std::size_t Count>
std::int64_t execute(const char* statement, std::array<Oid, Count> types, std::array<Datum, Count> values) {
    SPI_connect();
    const int result = SPI_execute_with_args(statement, static_cast<int>(Count), types.data(), values.data(),
                                             nullptr, false, 0);
    if (result < 0) {
        ereport(ERROR, (errmsg("pg_walrus: history cannot be written: %s", SPI_result_code_string(result))));
    }
    const auto rows = static_cast<std::int64_t>(SPI_processed);
    SPI_finish();
    return rows;
}

Datum as_text(const char* value) { return PointerGetDatum(cstring_to_text(value)); }
Datum as_integer(Megabytes value) { return Int32GetDatum(static_cast<int32>(value)); }

}  // namespace

void write_history(const HistoryRow& row) {
    if (!history_exists()) {
        return;
    }
    execute<7>(
        "INSERT INTO walrus.history (action, old_size_mb, new_size_mb, forced_checkpoints,"
        " checkpoint_timeout_sec, reason, metadata) VALUES ($1, $2, $3, $4, $5, $6, $7::pg_catalog.jsonb)",
        {TEXTOID, INT4OID, INT4OID, INT8OID, INT4OID, TEXTOID, TEXTOID},
        {as_text(row.action), as_integer(row.old_size), as_integer(row.new_size),
         Int64GetDatum(row.requested), Int32GetDatum(CheckPointTimeout), as_text(row.reason),
         as_text(row.metadata)});
}

void notify_change(const HistoryRow& row) {
    const char* channel = settings().notify_channel;
    if (channel == nullptr || *channel == '\0') {
        return;
    }
    JsonText payload;
    payload.text("action", row.action);
    payload.number("old_size_mb", row.old_size);
    payload.number("new_size_mb", row.new_size);
    payload.text("reason", row.reason);
    Async_Notify(channel, payload.finish());
}

std::int64_t remove_old_history() {
    if (!history_exists()) {
        return 0;
    }
    return execute<1>(
        "DELETE FROM walrus.history"
        " WHERE timestamp < pg_catalog.now() - pg_catalog.make_interval(days => $1)",
        {INT4OID}, {Int32GetDatum(settings().history_retention_days)});
}

std::int64_t remove_all_history() {
    if (!history_exists()) {
        return 0;
    }
    return execute<0>("DELETE FROM walrus.history", {}, {});
}

}  // namespace sluice::walrus
