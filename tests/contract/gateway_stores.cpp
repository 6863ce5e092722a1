#include "app/gateway/gateway_ledger.hpp"
#include "contract/gateway_store_contract.hpp"
#include "store/memory/memory_gateway_tables.hpp"
#include "store/rocks/gateway/rocks_gateway_tables.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

class LedgerUnderTest : public GatewayStoreUnderTest {
public:
    GatewayStore& store() override { return *store_; }
    bool restart() override { return false; }
    void pass(Duration time) override { clock_.advance(time); }

protected:
    void open(std::unique_ptr<GatewayTables> tables) {
        store_ = make_gateway_ledger(std::move(tables), {clock_, log_});
    }
    void close() { store_.reset(); }

private:
    HandClock clock_{kNoon};
    RecordingLog log_;
    std::unique_ptr<GatewayStore> store_;
};

class MemoryUnderTest final : public LedgerUnderTest {
public:
    MemoryUnderTest() { open(make_memory_gateway_tables()); }
};

class RocksUnderTest final : public LedgerUnderTest {
public:
    RocksUnderTest() { start(); }
    ~RocksUnderTest() override { close(); }
    RocksUnderTest(const RocksUnderTest&) = delete;
    RocksUnderTest& operator=(const RocksUnderTest&) = delete;

    bool restart() override {
        close();
        start();
        return true;
    }

private:
    void start() {
        const auto set = std::make_shared<rocks::GatewayTableSet>();
        open(make_rocks_gateway_tables(rocks::Folder::open({temp_ / "data"}, {set}).value(), set));
    }

    TempFolder temp_;
};

template <class World>
std::unique_ptr<GatewayStoreUnderTest> make() {
    return std::make_unique<World>();
}

INSTANTIATE_TEST_SUITE_P(Stores, GatewayStoreContract,
                         testing::Values(GatewayStoreKind{"Memory", make<MemoryUnderTest>},
                                         GatewayStoreKind{"Rocks", make<RocksUnderTest>}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace sluice::test
