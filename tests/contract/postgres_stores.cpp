#include "contract/stores_under_test.hpp"

namespace sluice::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Postgres, SlotStoreContract,
                         testing::Values(StoreKind{"Batch", postgres_batch_way, 10},
                                         StoreKind{"Function", postgres_function_way, 10}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace sluice::test
