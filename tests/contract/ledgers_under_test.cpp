#include <memory>
#include <stdexcept>

#include "contract/stores_under_test.hpp"
#include "store/memory/memory_slot_tables.hpp"
#include "support/rocks_tables.hpp"
#include "support/shared_tables.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

// A ledger over tables that can be opened again and again.
class LedgerUnderTest final : public StoreUnderTest {
public:
    using Open = std::function<std::shared_ptr<SlotTables>()>;

    LedgerUnderTest(Open open, StoreSettings settings, StoreSurroundings& around)
        : open_{std::move(open)}, settings_{settings}, around_{around} {
        start();
    }

    SlotStore& store() override { return *ledger_; }
    void restart() override {
        ledger_.reset();
        tables_.reset();
        start();
    }
    RecountReport recount_all() override { return recount(*tables_).value(); }

private:
    void start() {
        tables_ = open_();
        LedgerOptions options;
        options.strict = settings_.strict;
        options.seed = settings_.seed;
        options.retention = settings_.retention;
        ledger_ = make_slot_ledger(std::make_unique<SharedTables>(tables_), options,
                                   {around_.clock, around_.metrics, around_.log});
    }

    const Open open_;
    const StoreSettings settings_;
    StoreSurroundings& around_;
    std::shared_ptr<SlotTables> tables_;
    std::unique_ptr<SlotStore> ledger_;
};

}  // namespace

std::unique_ptr<StoreUnderTest> memory_ledger(StoreSettings settings, StoreSurroundings& around) {
    auto open = [tables = std::shared_ptr<SlotTables>{make_memory_slot_tables()}] { return tables; };
    return std::make_unique<LedgerUnderTest>(open, settings, around);
}

std::unique_ptr<StoreUnderTest> rocks_ledger(StoreSettings settings, StoreSurroundings& around) {
    auto open = [folder = std::make_shared<TempFolder>()]() -> std::shared_ptr<SlotTables> {
        auto tables = open_rocks_tables({*folder / "data"});
        if (!tables) {
            throw std::runtime_error{tables.error().what};
        }
        return std::move(*tables);
    };
    return std::make_unique<LedgerUnderTest>(open, settings, around);
}

}  // namespace sluice::test
