#include "store/memory/memory_slot_tables.hpp"

#include <map>
#include <mutex>
#include <unordered_map>

#include "store/memory/memory_work_tables.hpp"

namespace sluice {
namespace {

class MemorySlotTables final : public SlotTables {
public:
    Result<std::vector<std::optional<Slot>>, StoreError> find(
        std::span<const std::string_view> event_ids) override {
        const std::lock_guard lock{mutex_};
        std::vector<std::optional<Slot>> result;
        result.reserve(event_ids.size());
        for (const std::string_view id : event_ids) {
            const auto found = slots_.find(std::string{id});
            result.push_back(found == slots_.end() ? std::nullopt : std::optional{found->second});
        }
        return result;
    }

    Result<std::vector<Slot>, StoreError> past(const EventId& event_id) override {
        const std::lock_guard lock{mutex_};
        const auto found = past_.find(event_id.text());
        return found == past_.end() ? std::vector<Slot>{} : found->second;
    }

    Result<ConfigTables, StoreError> load_configs() override {
        const std::lock_guard lock{mutex_};
        ConfigTables tables;
        for (const auto& [id, config] : configs_) {
            tables.configs.push_back(config);
        }
        for (const auto& [name, pool] : pools_) {
            tables.pools.push_back(pool);
        }
        tables.horizon = horizon_;
        return tables;
    }

    Result<void, StoreError> scan_counts(PoolId pool, WindowRange range, const CountSink& sink) override {
        const std::lock_guard lock{mutex_};
        auto row = counts_.lower_bound({pool, range.first});
        while (row != counts_.end() && row->first.first == pool && row->first.second <= range.last &&
               sink(row->first.second, row->second.places)) {
            ++row;
        }
        return {};
    }

    Result<std::optional<WindowCells>, StoreError> cells(PoolId pool, WindowIndex window) override {
        const std::lock_guard lock{mutex_};
        const auto row = counts_.find({pool, window});
        return row == counts_.end() ? std::nullopt : row->second.cells;
    }

    Result<void, StoreError> scan_slots(const std::function<void(const Slot&)>& sink) override {
        const std::lock_guard lock{mutex_};
        for (const auto& [id, slot] : slots_) {
            sink(slot);
        }
        return {};
    }

    Result<void, StoreError> commit(const SlotChanges& changes) override {
        const std::lock_guard lock{mutex_};
        for (const Slot& slot : changes.slots) {
            slots_.insert_or_assign(slot.event_id.text(), slot);
        }
        for (const Slot& slot : changes.past) {
            past_[slot.event_id.text()].push_back(slot);
        }
        for (const WindowCount& count : changes.counts) {
            if (count.content.places == 0) {
                counts_.erase({count.pool, count.window});
            } else {
                counts_.insert_or_assign({count.pool, count.window}, count.content);
            }
        }
        for (const ConfigVersion& config : changes.configs) {
            configs_.insert_or_assign(config.id, config);
        }
        for (const Pool& pool : changes.pools) {
            pools_.insert_or_assign(pool.name, pool);
        }
        for (const PoolId pool : changes.dropped_pools) {
            std::erase_if(counts_, [pool](const auto& row) { return row.first.first == pool; });
        }
        if (changes.horizon) {
            forget(*changes.horizon);
        }
        for (const auto& [pool, end] : changes.dropped_counts) {
            counts_.erase(counts_.lower_bound({pool, 0}), counts_.lower_bound({pool, end}));
        }
        works_.apply(changes.work);
        for (const Slot& slot : changes.slots) {  // What kept it may be over.
            if (slot.work == WorkMark::Closed && slot.scheduled < horizon_) {
                forget_one(slot.event_id.text());
            }
        }
        return {};
    }

    WorkTables* work() override { return &works_; }

    Result<void, StoreError> reopen() override { return {}; }

private:
    void forget_one(const std::string& event_id) {
        works_.forget(event_id);
        past_.erase(event_id);
        slots_.erase(event_id);
    }

    void forget(Instant horizon) {
        horizon_ = horizon;
        const auto is_old = [horizon](const Slot& slot) {
            return slot.scheduled < horizon && slot.work != WorkMark::Open;
        };
        std::erase_if(slots_, [&](const auto& row) {
            if (is_old(row.second) && row.second.work == WorkMark::Closed) {
                works_.forget(row.first);
            }
            return is_old(row.second);
        });
        for (auto& [id, slots] : past_) {
            std::erase_if(slots, is_old);
        }
        std::erase_if(past_, [this](const auto& row) { return !slots_.contains(row.first); });
    }

    std::mutex mutex_;  // Guards everything below.
    std::unordered_map<std::string, Slot> slots_;
    std::unordered_map<std::string, std::vector<Slot>> past_;
    std::map<std::pair<PoolId, WindowIndex>, WindowContent> counts_;
    std::map<ConfigId, ConfigVersion> configs_;
    std::map<PoolName, Pool> pools_;
    Instant horizon_{};
    MemoryWorkTables works_;  // Has a guard of its own.
};

}  // namespace

std::unique_ptr<SlotTables> make_memory_slot_tables() { return std::make_unique<MemorySlotTables>(); }

}  // namespace sluice
