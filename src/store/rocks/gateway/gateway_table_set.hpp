#pragma once

#include "app/gateway/gateway_tables.hpp"
#include "store/rocks/client/batch.hpp"

namespace sluice::rocks {

enum class GatewayTable : std::size_t { Users, Messages, Requests, Outbox };

// The tables of the gateway: what their folder must know of them, and how they are written. Requests and
// messages go once they are old, as files are sorted.
// Thread safety: immutable.
class GatewayTableSet final : public TableSet {
public:
    [[nodiscard]] std::vector<TableDraft> tables() const override;
    Result<void, StoreError> opened(const Database& /*database*/) override { return {}; }

    [[nodiscard]] Database::Table table(const Database& database, GatewayTable table) const {
        return database.tables_of(*this)[static_cast<std::size_t>(table)];
    }

    // Adds the rows of these changes; the folder is then one that an older Sluice refuses.
    void add(Batch& batch, const GatewayChanges& changes) const;
};

}  // namespace sluice::rocks
