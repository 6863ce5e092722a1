#include "contract/gateway_store_contract.hpp"
#include "support/postgres_gateway.hpp"

namespace sluice::test {
namespace {

class PostgresUnderTest final : public GatewayStoreUnderTest {
public:
    PostgresUnderTest() { pass(Duration{0}); }

    GatewayStore& store() override { return **store_; }
    bool restart() override {
        store_.reset();
        store_.emplace(database_.dsn());
        return true;
    }
    void pass(Duration time) override {
        now_ += time;
        set_server_clock(*clock_, now_);
        store_->tell_of_clock(now_);
    }

private:
    FreshDatabase database_{Furnished::WithSlots};
    std::unique_ptr<postgres::Connection> clock_ = connect(database_.dsn());
    std::optional<PostgresGatewayOn> store_{database_.dsn()};
    Instant now_ = kNoon;
};

std::unique_ptr<GatewayStoreUnderTest> make_postgres() {
    return postgres_address().empty() ? nullptr : std::make_unique<PostgresUnderTest>();
}

INSTANTIATE_TEST_SUITE_P(Stores, GatewayStoreContract,
                         testing::Values(GatewayStoreKind{"Postgres", make_postgres}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace sluice::test
