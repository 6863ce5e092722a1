#pragma once

#include "app/dispatch/work_tables.hpp"
#include "store/postgres/client/rows.hpp"

// How works, their orders and their audit are read from rows.
namespace sluice::postgres {

// The columns of a work `w`, in the order that read_work() expects.
#define SLUICE_WORK_COLUMNS                                                                      \
    "w.event_id, w.wndw_config_nm, w.pool_nm, w.host_nm, w.endpoint_nm, w.target_cd, "           \
    "sluice.to_ms(w.sched_ts), w.weight_ct, sluice.to_ms(w.expires_ts), w.state_cd, w.lane_cd, " \
    "w.lane_nm, sluice.to_ms(w.due_ts), w.attempt_ct, w.try_ct, w.line_ct"
inline constexpr std::size_t kWorkColumns = 16;

struct StoredWork {
    WorkRow row;
    // False: it came by SQL, and nobody has read yet where it goes; its route is empty.
    bool is_routed = true;
};
// Nothing when the row is damaged.
std::optional<StoredWork> read_work(const Rows& rows, std::size_t row, std::size_t first_column = 0);

// The columns of an order `o`, in the order that read_order() expects.
#define SLUICE_ORDER_COLUMNS                                                                              \
    "o.target_cd, o.address_tx, o.host_nm, o.endpoint_nm, encode(o.payload, 'hex'), o.expires_after_ms, " \
    "o.traceparent_tx"
inline constexpr std::size_t kOrderColumns = 7;

// Nothing when the row is damaged.
std::optional<WorkOrder> read_order(const Rows& rows, std::size_t row, std::size_t first_column = 0);

// The columns of a line `a` of the audit, in the order that read_line() expects.
#define SLUICE_LINE_COLUMNS                                                                              \
    "a.action_cd, sluice.to_ms(a.at_ts), a.attempt_no, a.status_no, a.latency_ms, a.by_tx, a.error_tx, " \
    "a.excerpt_tx"

// Nothing when the row is damaged.
std::optional<AuditLine> read_line(const Rows& rows, std::size_t row);

}  // namespace sluice::postgres
