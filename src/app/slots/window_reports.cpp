// Quotes and reports of windows: the same for every store.
#include "app/slots/pool_windows.hpp"
#include "app/slots/slot_errors.hpp"
#include "app/slots/slot_store.hpp"

namespace sluice {
namespace {

Result<Slot, SlotError> quote_in(PoolWindows& windows, const ConfigVersion& config,
                                 const QuoteRequest& request, Instant now) {
    static const EventId kNobody = *EventId::make("quote");
    const SlotPolicy policy = config.policy();
    const SlotAsk ask = asked_at(policy, request.ask, now);
    const auto window = find_window(policy, ask, windows);
    if (!window) {
        return Unexpected{no_room(policy, ask)};
    }
    return Slot{request.event_id.value_or(kNobody),
                config.id,
                request.ask.requested,
                policy.grid.start_of(*window),
                earliest_in(policy, ask, *window),
                request.ask.weight,
                request.ask.max_delay};
}

Result<WindowReport, SlotError> report_on(PoolWindows& windows, const ConfigVersion& config,
                                          TimeRange range) {
    const WindowGrid grid = config.policy().grid;
    const WindowIndex first = grid.index_of(range.from);
    const WindowIndex end = range.to > range.from ? grid.index_of(range.to - Duration{1}) + 1 : first;
    if (end - first > static_cast<WindowIndex>(kWindowsReportedMax)) {
        return Unexpected{range_too_large()};
    }
    WindowReport report{config.terms.max_per_window, {}};
    for (WindowIndex index = first; index < end; ++index) {
        report.windows.push_back({grid.start_of(index), windows.is_open(index) ? windows.held(index) : 0});
    }
    return report;
}

}  // namespace

Result<Slot, SlotError> SlotStore::quote(const QuoteRequest& request) {
    if (request.event_id) {
        auto known = find(*request.event_id);
        if (known && known->slot.state == SlotState::Cancelled) {
            return Unexpected{event_cancelled(*request.event_id)};
        }
        if (known) {
            return std::move(known->slot);
        }
        if (known.error().fault != SlotFault::UnknownEvent) {
            return Unexpected{std::move(known).error()};
        }
    }
    Result<Slot, SlotError> quoted = Unexpected{store_unavailable()};
    const auto shown =
        show_windows(request.config_name, [&](const ConfigVersion& config, PoolWindows& windows) {
            if (request.ask.weight > config.terms.max_per_window) {
                quoted = Unexpected{weight_above_cap(config)};
            } else if (const auto now = time(); !now) {
                quoted = Unexpected{now.error()};
            } else {
                quoted = quote_in(windows, config, request, *now);
            }
        });
    return shown ? quoted : Unexpected{shown.error()};
}

Result<WindowReport, SlotError> SlotStore::windows(const ConfigName& name, TimeRange range) {
    Result<WindowReport, SlotError> report = Unexpected{store_unavailable()};
    const auto shown = show_windows(name, [&](const ConfigVersion& config, PoolWindows& windows) {
        report = report_on(windows, config, range);
    });
    return shown ? std::move(report) : Unexpected{shown.error()};
}

}  // namespace sluice
