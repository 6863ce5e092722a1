#pragma once

#include <memory>

#include "app/dispatch/work_tables.hpp"
#include "store/rocks/client/batch.hpp"
#include "store/rocks/client/horizon.hpp"

namespace sluice::rocks {

// Beside these, holds, rates and permits stand in the folder's own table.
enum class WorkTable : std::size_t { Works, Orders, Lanes, Audit, Sent };

// The tables of works: what their folder must know of them, and how they are written. What is final goes when
// its slot is forgotten, as files are sorted.
// Thread safety: all of it.
class WorkTableSet final : public TableSet {
public:
    // `audit_retention`: lines go when they are so old, or when they lie before the horizon. Absent: only
    // then.
    explicit WorkTableSet(std::shared_ptr<const Horizon> horizon,
                          std::optional<Duration> audit_retention = std::nullopt)
        : horizon_{std::move(horizon)}, audit_retention_{audit_retention} {}

    [[nodiscard]] std::vector<TableDraft> tables() const override;
    Result<void, StoreError> opened(const Database& /*database*/) override { return {}; }

    [[nodiscard]] Database::Table table(const Database& database, WorkTable table) const {
        return database.tables_of(*this)[static_cast<std::size_t>(table)];
    }
    // Whether it is as if the work had never been.
    [[nodiscard]] bool is_forgotten(const Work& work) const {
        return is_final(work.state) && work.scheduled < horizon_->get();
    }

    // Adds the rows of these changes; the folder is then one that an older Sluice refuses.
    void add(Batch& batch, const WorkChanges& changes) const;

private:
    void add_lanes(Batch& batch, const std::vector<WorkChange>& changes) const;

    const std::shared_ptr<const Horizon> horizon_;
    const std::optional<Duration> audit_retention_;
};

}  // namespace sluice::rocks
