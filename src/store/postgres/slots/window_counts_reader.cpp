#include "store/postgres/slots/window_counts_reader.hpp"

#include "store/postgres/client/connection_pool.hpp"
#include "store/postgres/slots/slot_rows.hpp"

namespace sluice::postgres {
namespace {

constexpr Statement kReadCounts{
    "read_counts",
    "select sluice.to_ms(w.wndw_strt_ts), w.slot_ct from rl_wndw_ct w where w.pool_nm = $1 and w.slot_ct > 0"
    " and w.wndw_strt_ts >= sluice.from_ms($2) and w.wndw_strt_ts <= sluice.from_ms($3)"
    " order by w.wndw_strt_ts"};

Result<void, StoreError> read_counts(ConnectionSource& pool, Parameters parameters, WindowGrid grid,
                                     const SlotTables::CountSink& sink) {
    const auto lease = pool.take(ConnectionSource::Clock::now() + kConnectionPatience);
    if (!lease) {
        return Unexpected{StoreError{lease.error().message}};
    }
    const auto rows = (*lease)->run(kReadCounts, std::move(parameters));
    if (!rows) {
        return Unexpected{StoreError{rows.error().message}};
    }
    for (std::size_t i = 0; i < rows->size(); ++i) {
        const auto start = rows->number(i, 0);
        const auto places = rows->number(i, 1);
        if (!start || !places) {
            return Unexpected{StoreError{"a row of rl_wndw_ct is damaged"}};
        }
        if (!sink(grid.index_of(Instant{Duration{*start}}), static_cast<Places>(*places))) {
            return {};
        }
    }
    return {};
}

constexpr Statement kReadCells{
    "read_cells",
    "select w.cells from rl_wndw_ct w where w.pool_nm = $1 and w.wndw_strt_ts = sluice.from_ms($2)"};

Result<std::optional<WindowCells>, StoreError> read_stored_cells(ConnectionSource& pool,
                                                                 const Parameters& parameters) {
    const auto lease = pool.take(ConnectionSource::Clock::now() + kConnectionPatience);
    if (!lease) {
        return Unexpected{StoreError{lease.error().message}};
    }
    const auto rows = (*lease)->run(kReadCells, parameters);
    if (!rows) {
        return Unexpected{StoreError{rows.error().message}};
    }
    return rows->empty() || rows->is_null(0, 0) ? std::nullopt : read_cells(rows->text(0, 0));
}

}  // namespace

WindowMirror::SourceOf counts_reader(ConnectionSource& pool) {
    return [&pool](const PoolName& name, Duration window_size) -> CountSource {
        const WindowGrid grid{window_size};
        return [&pool, name, grid](WindowRange range, const SlotTables::CountSink& sink) {
            return read_counts(pool,
                               Parameters{}
                                   .add(name.text())
                                   .add(grid.start_of(range.first).time_since_epoch().count())
                                   .add(grid.start_of(range.last).time_since_epoch().count()),
                               grid, sink);
        };
    };
}

CellSourceOf cells_reader(ConnectionSource& pool) {
    return [&pool](const PoolName& name, Duration window_size) -> CellSource {
        return [&pool, name, grid = WindowGrid{window_size}](WindowIndex window) {
            return read_stored_cells(pool, Parameters{}.add(name.text()).add(to_ms(grid.start_of(window))));
        };
    };
}

}  // namespace sluice::postgres
