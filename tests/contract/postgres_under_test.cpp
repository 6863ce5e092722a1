#include "contract/stores_under_test.hpp"
#include "store/postgres/slots/postgres_slot_store.hpp"
#include "store/postgres/work/postgres_work_store.hpp"
#include "support/postgres_fixture.hpp"

namespace sluice::test {
namespace {

class SilentPool final : public postgres::PoolMetrics {
public:
    void waited(std::chrono::nanoseconds) override {}
};

// Nothing here comes by SQL.
Result<Route, std::string> route_as_brought(const Target& /*target*/) {
    return Unexpected{std::string{"No work of this test is without a route."}};
}

// A store in a database of its own.
class PostgresStore final : public StoreUnderTest {
public:
    PostgresStore(AssignWay way, StoreSettings settings, StoreSurroundings& around) : around_{around} {
        options_.ledger = {5s, settings.strict, settings.seed};
        options_.way = way;
        options_.retention = settings.retention;
        open();
    }

    SlotStore& store() override {
        set_clock();
        return *store_;
    }
    void restart() override {
        set_clock();  // Housekeeping begins at the start.
        open();
    }

    RecountReport recount_all() override {
        RecountReport report;
        const auto connection = connect(database_.dsn());
        const auto rows = connection->run_script(
            "select pool || ' at ' || window_start || ' counts ' || counted || ' and holds ' || recounted"
            " from sluice.recount where counted <> recounted union all "
            "select pool_nm || ' at ' || wndw_strt_ts || ' holds ' || slot_ct || ' in other cells: ' || "
            "cells::text"
            " from rl_wndw_ct where slot_ct <> (select count(owner) from unnest(cells) as owner)"
            " and cells is not null union all " +
            kWindowsBelowTheirBounds + " limit 100");
        if (!rows) {
            report.differences.push_back(rows.error().message);
            return report;
        }
        for (std::size_t i = 0; i < rows->size(); ++i) {
            report.differences.emplace_back(rows->text(i, 0));
        }
        report.slots = std::stoull(ask(*connection, "select count(*) from rl_event_slot_dtl"));
        return report;
    }

private:
    // The server's clock decides, and goes with the one that the tests set.
    void set_clock() {
        if (const Instant now = around_.clock.now(); now != server_time_) {
            set_server_clock(*connect(database_.dsn()), now);
            server_time_ = now;
        }
    }

    void open() {
        store_.reset();
        auto server = open_server({test_settings(database_.dsn()), 2, 8}, around_.log, pool_metrics_);
        auto works = make_postgres_work_store(server, route_as_brought, around_.log);
        auto opened = open_postgres_slot_store(
            std::move(server), options_, {around_.clock, around_.metrics, around_.log}, std::move(works));
        if (!opened) {
            throw std::runtime_error{opened.error()};
        }
        store_ = std::move(*opened);
    }

    FreshDatabase database_{Furnished::WithSlots};
    SilentPool pool_metrics_;
    StoreSurroundings& around_;
    std::optional<Instant> server_time_;
    PostgresSlotOptions options_;
    std::unique_ptr<PostgresSlotStore> store_;
};

std::unique_ptr<StoreUnderTest> make(AssignWay way, StoreSettings settings, StoreSurroundings& around) {
    return postgres_address().empty() ? nullptr : std::make_unique<PostgresStore>(way, settings, around);
}

}  // namespace

std::unique_ptr<StoreUnderTest> postgres_batch_way(StoreSettings settings, StoreSurroundings& around) {
    return make(AssignWay::Batch, settings, around);
}

std::unique_ptr<StoreUnderTest> postgres_function_way(StoreSettings settings, StoreSurroundings& around) {
    return make(AssignWay::Function, settings, around);
}

}  // namespace sluice::test
