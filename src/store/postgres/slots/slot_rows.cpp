#include "store/postgres/slots/slot_rows.hpp"

#include <charconv>

#include "store/postgres/client/row_reader.hpp"

namespace sluice::postgres {

namespace {

// All but how its work stands.
std::optional<StoredSlot> read_columns(RowReader& reader) {
    const auto event_id = reader.name<EventId>();
    const auto config_id = ConfigId{reader.number_as<std::uint32_t>()};
    const Instant requested = reader.instant();
    const Instant window_start = reader.instant();
    const Instant scheduled = reader.instant();
    const auto weight = reader.number_as<Places>();
    const auto max_delay = reader.duration_if_any();
    const auto state = SlotState{reader.number_as<std::uint8_t>()};
    const auto revision = reader.number_as<std::uint32_t>();
    const Instant since = reader.instant();
    auto config_name = reader.name<ConfigName>();
    if (!reader.whole()) {
        return std::nullopt;
    }
    return StoredSlot{Slot{*event_id, config_id, requested, window_start, scheduled, weight, max_delay, state,
                           revision, since},
                      std::move(*config_name)};
}

}  // namespace

std::optional<StoredSlot> read_slot(const Rows& rows, std::size_t row) {
    RowReader reader{rows, row};
    auto stored = read_columns(reader);
    const auto work = reader.number_as<std::uint8_t>();
    if (!stored || !reader.whole()) {
        return std::nullopt;
    }
    stored->slot.work = WorkMark{work};
    return stored;
}

std::optional<Slot> read_past(const Rows& rows, std::size_t row) {
    RowReader reader{rows, row};
    auto stored = read_columns(reader);
    return stored ? std::optional{std::move(stored->slot)} : std::nullopt;
}

std::int64_t depth_of(const Slot& slot, WindowGrid grid) {
    return grid.index_of(slot.window_start) - grid.index_of(slot.requested);
}

std::optional<ConfigVersion> read_config(const Rows& rows, std::size_t row) {
    RowReader reader{rows, row};
    const auto id = ConfigId{reader.number_as<std::uint32_t>()};
    const auto name = reader.name<ConfigName>();
    const auto cap = reader.number_as<Places>();
    const Duration size{reader.number()};
    const auto pool = reader.name<PoolName>();
    const auto lookahead = reader.number_if_any();
    const Instant effective_from = reader.instant();
    const bool active = reader.number() == 1;
    const auto spread = Spread{reader.number_as<std::uint8_t>()};
    const auto past = Past{reader.number_as<std::uint8_t>()};
    const auto rate = reader.number_if_any();
    const auto holds = RateHolds{reader.number_as<std::uint8_t>()};
    DispatchDraft dispatch;
    dispatch.expires_after = reader.duration_if_any();
    const auto pauses = reader.numbers_if_any();
    if (!reader.whole() || cap == 0 || size <= Duration{0}) {
        return std::nullopt;
    }
    if (rate) {
        dispatch.rate = GateTerms{static_cast<std::uint32_t>(*rate), holds};
    }
    if (pauses) {
        dispatch.retries = RetrySchedule{std::vector<Duration>(pauses->begin(), pauses->end())};
    }
    return ConfigVersion{id,
                         ConfigDraft{*name, cap, size, *pool, lookahead, spread, past, std::move(dispatch)},
                         effective_from, active};
}

void add_dispatch(Parameters& parameters, const DispatchDraft& draft) {
    draft.rate ? parameters.add(std::int64_t{draft.rate->max_per_second}) : parameters.add_null();
    parameters.add(static_cast<std::int64_t>(draft.rate ? draft.rate->holds : RateHolds::Receiver));
    draft.expires_after ? parameters.add(draft.expires_after->count()) : parameters.add_null();
    if (!draft.retries) {
        parameters.add_null();
        return;
    }
    ArrayText pauses;
    for (const Duration pause : draft.retries->pauses()) {
        pauses.add(pause.count());
    }
    parameters.add(pauses);
}

std::optional<WindowCells> read_cells(std::string_view array) {
    std::vector<Cell> owners;
    while (array.size() > 1) {  // The closing brace is left.
        array.remove_prefix(1);
        const std::string_view element = array.substr(0, array.find_first_of(",}"));
        Cell owner = WindowCells::kFree;
        if (element != "NULL" &&
            std::from_chars(element.data(), element.data() + element.size(), owner).ec != std::errc{}) {
            return std::nullopt;
        }
        owners.push_back(owner);
        array.remove_prefix(element.size());
    }
    return WindowCells::restore(std::move(owners));
}

}  // namespace sluice::postgres
