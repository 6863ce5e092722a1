#include "contract/stores_under_test.hpp"
#include "contract/work_store_contract.hpp"

namespace sluice::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Stores, WorkStoreContract,
                         testing::Values(StoreKind{"Memory", memory_ledger},
                                         StoreKind{"Rocks", rocks_ledger}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace sluice::test
