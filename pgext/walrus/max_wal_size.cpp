#include "max_wal_size.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>

#include "checkpoint_ear.hpp"
#include "postgres_api.hpp"
#include "standing.hpp"

namespace sluice::walrus {

Megabytes current_size() { return max_wal_size_mb; }

Megabytes smallest_size() {
    constexpr Megabytes kMegabyte = 1024 * 1024;
    return std::max<Megabytes>(2 * (wal_segment_size / kMegabyte), min_wal_size_mb);
}

bool is_fixed_by_command_line() {
    // Asked in SQL: the structures behind it differ from version to version.
    SPI_connect();
    SPI_execute("SELECT source FROM pg_catalog.pg_settings WHERE name = 'max_wal_size'", true, 1);
    bool fixed = false;
    if (SPI_processed == 1) {
        const char* source = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
        fixed = source != nullptr && std::strcmp(source, "command line") == 0;
    }
    SPI_finish();
    return fixed;
}

void write_size(Megabytes size) {
    A_Const* value = makeNode(A_Const);
    value->val.ival.type = T_Integer;
    value->val.ival.ival = static_cast<int>(size);
    value->location = -1;

    VariableSetStmt* set = makeNode(VariableSetStmt);
    set->kind = VAR_SET_VALUE;
    set->name = pstrdup("max_wal_size");
    set->args = list_make1(value);

    AlterSystemStmt* statement = makeNode(AlterSystemStmt);
    statement->setstmt = set;
    AlterSystemSetConfigFile(statement);
}

void reload_configuration() { kill(PostmasterPid, SIGHUP); }

bool read_server(WalReading* reading) {
    if (!count_checkpoints(&reading->count)) {
        return false;
    }
    reading->size = current_size();
    reading->wal_position = GetXLogInsertRecPtr();
    reading->at_ms = steady_ms();
    return true;
}

}  // namespace sluice::walrus
