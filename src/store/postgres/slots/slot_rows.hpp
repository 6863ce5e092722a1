#pragma once

#include <optional>

#include "app/slots/slot_store.hpp"
#include "store/postgres/client/connection.hpp"

// How slots and configs are read from rows.
namespace sluice::postgres {

// A slot with the name of the config that gave it.
struct StoredSlot {
    Slot slot;
    ConfigName config_name;
};

// The columns of what a slot `d` was before, joined with its config `c`, in the order that read_past()
// expects.
#define SLUICE_PAST_COLUMNS                                                                            \
    "d.event_id, c.config_no, sluice.to_ms(d.req_ts), sluice.to_ms(d.wndw_strt_ts), "                  \
    "sluice.to_ms(d.computed_sched_ts), d.weight_ct, d.max_delay_ms, d.slot_state_cd, d.revision_no, " \
    "sluice.to_ms(d.since_ts), c.wndw_config_nm"
// The same of a slot as it is, for read_slot(). The statement that stores it, or cancels it, does not see
// what has become of its work: it is new then, or withdrawn.
#define SLUICE_SLOT_COLUMNS                                                                             \
    SLUICE_PAST_COLUMNS                                                                                 \
    ", case when not d.work_in then 0 when d.slot_state_cd = 2 then 2 else coalesce((select case when " \
    "w.state_cd in (3, 8) then 2 else 1 end"                                                            \
    " from sluice.work w where w.event_id = d.event_id), 1) end"
inline constexpr std::size_t kSlotColumns = 12;

// Nothing when the row is damaged.
std::optional<StoredSlot> read_slot(const Rows& rows, std::size_t row);
std::optional<Slot> read_past(const Rows& rows, std::size_t row);

// For the end of a transaction that answers from rows of others: see the function.
inline constexpr Statement kVouch{"vouch", "select sluice.vouch()"};

// Windows between the requested one and that of the slot.
std::int64_t depth_of(const Slot& slot, WindowGrid grid);

// The columns of a config version `c`, in the order that read_config() expects.
#define SLUICE_CONFIG_COLUMNS                                                                    \
    "c.config_no, c.wndw_config_nm, c.wndw_max_event_ct, c.wndw_size_ms, c.pool_nm, "            \
    "c.max_lookahead_ct, sluice.to_ms(c.config_eff_strt_dt), c.act_in, c.spread_cd, c.past_cd, " \
    "c.max_per_second, c.rate_holds_cd, c.expires_after_ms, c.retry_ms"
inline constexpr std::size_t kConfigColumns = 14;

// What a config says of the work of its slots, as the last parameters of sluice.put_config().
void add_dispatch(Parameters& parameters, const DispatchDraft& draft);

// The cells of a window as text, "{0,NULL,2}". Nothing for anything else.
std::optional<WindowCells> read_cells(std::string_view array);

// Nothing when the row is damaged.
std::optional<ConfigVersion> read_config(const Rows& rows, std::size_t row);

inline std::int64_t to_ms(Instant instant) { return instant.time_since_epoch().count(); }

}  // namespace sluice::postgres
