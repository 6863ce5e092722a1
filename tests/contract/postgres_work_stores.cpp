#include "contract/stores_under_test.hpp"
#include "contract/work_store_contract.hpp"

namespace sluice::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Postgres, WorkStoreContract,
                         testing::Values(StoreKind{"BatchWay", postgres_batch_way},
                                         StoreKind{"FunctionWay", postgres_function_way}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace sluice::test
