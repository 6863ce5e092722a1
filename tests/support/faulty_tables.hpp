#pragma once

#include <array>

#include "support/shared_tables.hpp"

namespace sluice::test {

enum class TableCall : std::size_t { Find, Past, LoadConfigs, ScanCounts, Cells, ScanSlots, Commit, Reopen };
inline constexpr std::size_t kTableCalls = 8;

enum class Lasting { Once, UntilHealed };
// Whether a commit that is reported as failed was really not made.
enum class Truth { NotDone, DoneAllTheSame };

struct TableFault {
    TableCall call;
    std::size_t nth;  // The first call of that kind after arm() is 1.
    Lasting lasting = Lasting::Once;
    Truth truth = Truth::NotDone;
};

// Tables that fail the Nth call of a kind, once or until they are healed.
// Thread safety: none.
class FaultyTables final : public SharedTables {
public:
    using SharedTables::SharedTables;

    void arm(TableFault fault) {
        fault_ = fault;
        calls_.fill(0);
        fired_ = 0;
    }
    void heal() { fault_.reset(); }
    [[nodiscard]] std::size_t fired() const { return fired_; }
    [[nodiscard]] std::size_t calls(TableCall call) const {
        return calls_.at(static_cast<std::size_t>(call));
    }
    [[nodiscard]] std::size_t committed() const { return committed_; }

    Result<std::vector<std::optional<Slot>>, StoreError> find(
        std::span<const std::string_view> event_ids) override {
        return fails(TableCall::Find) ? Unexpected{broken()} : SharedTables::find(event_ids);
    }
    Result<std::vector<Slot>, StoreError> past(const EventId& event_id) override {
        return fails(TableCall::Past) ? Unexpected{broken()} : SharedTables::past(event_id);
    }
    Result<ConfigTables, StoreError> load_configs() override {
        return fails(TableCall::LoadConfigs) ? Unexpected{broken()} : SharedTables::load_configs();
    }
    Result<void, StoreError> scan_counts(PoolId pool, WindowRange range, const CountSink& sink) override {
        return fails(TableCall::ScanCounts) ? Unexpected{broken()}
                                            : SharedTables::scan_counts(pool, range, sink);
    }
    Result<std::optional<WindowCells>, StoreError> cells(PoolId pool, WindowIndex window) override {
        return fails(TableCall::Cells) ? Unexpected{broken()} : SharedTables::cells(pool, window);
    }
    Result<void, StoreError> scan_slots(const std::function<void(const Slot&)>& sink) override {
        return fails(TableCall::ScanSlots) ? Unexpected{broken()} : SharedTables::scan_slots(sink);
    }
    Result<void, StoreError> commit(const SlotChanges& changes) override {
        const Truth truth = fault_ ? fault_->truth : Truth::NotDone;
        if (!fails(TableCall::Commit)) {
            ++committed_;
            return SharedTables::commit(changes);
        }
        if (truth == Truth::DoneAllTheSame) {
            static_cast<void>(SharedTables::commit(changes));
        }
        return Unexpected{broken()};
    }
    Result<void, StoreError> reopen() override {
        return fails(TableCall::Reopen) ? Unexpected{broken()} : SharedTables::reopen();
    }

private:
    static StoreError broken() { return {"broken by the test"}; }

    bool fails(TableCall call) {
        const std::size_t count = ++calls_.at(static_cast<std::size_t>(call));
        if (!fault_ || fault_->call != call || count < fault_->nth ||
            (fault_->lasting == Lasting::Once && count > fault_->nth)) {
            return false;
        }
        ++fired_;
        return true;
    }

    std::optional<TableFault> fault_;
    std::array<std::size_t, kTableCalls> calls_{};
    std::size_t fired_ = 0;
    std::size_t committed_ = 0;
};

}  // namespace sluice::test
