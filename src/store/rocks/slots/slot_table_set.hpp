#pragma once

#include <optional>

#include "app/slots/slot_tables.hpp"
#include "store/rocks/client/batch.hpp"
#include "store/rocks/slots/forgetting.hpp"

namespace sluice::rocks {

// Beside these, configs, pools and the horizon stand in the folder's own table.
enum class SlotTable : std::size_t { Slots, Past, Counts };

// The tables of slots: what their folder must know of them, and how they are written.
// Thread safety: all of it.
class SlotTableSet final : public TableSet {
public:
    // How long slots are kept. Files are sorted anew at least four times in that time, so that what is
    // forgotten leaves the disk. Absent: only when they are sorted anyway.
    explicit SlotTableSet(std::optional<Duration> retention = std::nullopt) : retention_{retention} {}

    [[nodiscard]] std::vector<TableDraft> tables() const override;
    Result<void, StoreError> opened(const Database& database) override;

    [[nodiscard]] Database::Table table(const Database& database, SlotTable table) const {
        return database.tables_of(*this)[static_cast<std::size_t>(table)];
    }

    // The last that is durable.
    [[nodiscard]] Instant horizon() const { return horizon_->get(); }
    // For sets whose rows belong to slots.
    [[nodiscard]] std::shared_ptr<const Horizon> shared_horizon() const { return horizon_; }

    // Adds the rows of these changes. The set must outlive the batch.
    void add(Batch& batch, const SlotChanges& changes) const;

private:
    const std::optional<Duration> retention_;
    const std::shared_ptr<Horizon> horizon_ = std::make_shared<Horizon>();  // RocksDB's threads read it too.
};

}  // namespace sluice::rocks
