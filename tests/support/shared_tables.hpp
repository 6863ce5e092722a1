#pragma once

#include <memory>

#include "app/slots/slot_tables.hpp"

namespace sluice::test {

// A way to tables that others hold too: they outlive the ledger, and a test can look into them.
class SharedTables : public SlotTables {
public:
    explicit SharedTables(std::shared_ptr<SlotTables> tables) : tables_{std::move(tables)} {}

    Result<std::vector<std::optional<Slot>>, StoreError> find(
        std::span<const std::string_view> event_ids) override {
        return tables_->find(event_ids);
    }
    Result<std::vector<Slot>, StoreError> past(const EventId& event_id) override {
        return tables_->past(event_id);
    }
    Result<ConfigTables, StoreError> load_configs() override { return tables_->load_configs(); }
    Result<void, StoreError> scan_counts(PoolId pool, WindowRange range, const CountSink& sink) override {
        return tables_->scan_counts(pool, range, sink);
    }
    Result<std::optional<WindowCells>, StoreError> cells(PoolId pool, WindowIndex window) override {
        return tables_->cells(pool, window);
    }
    Result<void, StoreError> scan_slots(const std::function<void(const Slot&)>& sink) override {
        return tables_->scan_slots(sink);
    }
    Result<void, StoreError> commit(const SlotChanges& changes) override { return tables_->commit(changes); }
    WorkTables* work() override { return tables_->work(); }
    Result<void, StoreError> reopen() override { return tables_->reopen(); }
    [[nodiscard]] std::optional<StoreSpace> space() const override { return tables_->space(); }

private:
    std::shared_ptr<SlotTables> tables_;
};

}  // namespace sluice::test
