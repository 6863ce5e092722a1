#include "contract/limit_store_contract.hpp"
#include "support/postgres_limits.hpp"

namespace sluice::test {
namespace {

class PostgresUnderTest final : public LimitStoreUnderTest {
public:
    LimitStore& store() override { return *store_; }
    void set_clock(Moment now) override { set_limit_clock(*clock_, now); }

private:
    FreshDatabase database_{Furnished::WithSlots};
    std::unique_ptr<postgres::Connection> clock_ = connect(database_.dsn());
    PostgresLimitsOn store_{database_.dsn()};
};

std::unique_ptr<LimitStoreUnderTest> make_postgres() {
    return postgres_address().empty() ? nullptr : std::make_unique<PostgresUnderTest>();
}

INSTANTIATE_TEST_SUITE_P(Stores, LimitStoreContract,
                         testing::Values(LimitStoreKind{"Postgres", make_postgres, 50}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace sluice::test
