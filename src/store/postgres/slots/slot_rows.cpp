#include "store/postgres/slots/slot_rows.hpp"

#include <charconv>

#include "store/postgres/client/row_reader.hpp"

namespace sluice::postgres {

std::optional<StoredSlot> read_slot(const Rows& rows, std::size_t row) {
    RowReader reader{rows, row};
    const auto event_id = reader.name<EventId>();
    const auto config_id = ConfigId{static_cast<std::uint32_t>(reader.number())};
    const Instant requested = reader.instant();
    const Instant window_start = reader.instant();
    const Instant scheduled = reader.instant();
    const auto weight = static_cast<Places>(reader.number());
    const auto max_delay = reader.number_if_any();
    const auto state = SlotState{static_cast<std::uint8_t>(reader.number())};
    const auto revision = static_cast<std::uint32_t>(reader.number());
    const Instant since = reader.instant();
    auto config_name = reader.name<ConfigName>();
    if (!reader.whole()) {
        return std::nullopt;
    }
    return StoredSlot{
        Slot{*event_id, config_id, requested, window_start, scheduled, weight,
             max_delay ? std::optional{Duration{*max_delay}} : std::nullopt, state, revision, since},
        std::move(*config_name)};
}

std::int64_t depth_of(const Slot& slot, WindowGrid grid) {
    return grid.index_of(slot.window_start) - grid.index_of(slot.requested);
}

std::optional<ConfigVersion> read_config(const Rows& rows, std::size_t row) {
    RowReader reader{rows, row};
    const auto id = ConfigId{static_cast<std::uint32_t>(reader.number())};
    const auto name = reader.name<ConfigName>();
    const auto cap = static_cast<Places>(reader.number());
    const Duration size{reader.number()};
    const auto pool = reader.name<PoolName>();
    const auto lookahead = reader.number_if_any();
    const Instant effective_from = reader.instant();
    const bool active = reader.number() == 1;
    const auto spread = Spread{static_cast<std::uint8_t>(reader.number())};
    const auto past = Past{static_cast<std::uint8_t>(reader.number())};
    if (!reader.whole() || cap == 0 || size <= Duration{0}) {
        return std::nullopt;
    }
    return ConfigVersion{id, ConfigDraft{*name, cap, size, *pool, lookahead, spread, past}, effective_from,
                         active};
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
