#include "store/rocks/slots/slot_codec.hpp"

#include "base/bytes.hpp"

namespace sluice::rocks {
namespace {

std::uint64_t to_number(Instant instant) {
    return static_cast<std::uint64_t>(instant.time_since_epoch().count());
}
Instant to_instant(std::uint64_t number) { return Instant{Duration{static_cast<Duration::rep>(number)}}; }
Duration to_duration(std::uint64_t number) { return Duration{static_cast<Duration::rep>(number)}; }

// What the last number of a config that every format has may say.
constexpr std::uint8_t kIsActive = 1;
constexpr std::uint8_t kHasSpreadAndPast = 2;
constexpr std::uint8_t kHasDispatch = 4;

// What stands with the state of a slot, from format 5 on.
constexpr std::uint8_t kWorkShift = 4;

// What stands with a config's dispatch.
constexpr std::uint8_t kHasRate = 1;
constexpr std::uint8_t kHasExpiry = 2;
constexpr std::uint8_t kHasRetries = 4;

// Absent is 0: neither a delay nor a look-ahead plus one is ever 0.
std::uint64_t to_number(std::optional<Duration> duration) {
    return static_cast<std::uint64_t>(duration.value_or(Duration{0}).count());
}

// An empty record of that version.
ByteWriter begin(RecordVersion version) { return version == 1 ? ByteWriter{} : begin_record(version); }

// What stands behind the version. Nothing when that is not known: its record reads like one that is cut off.
std::string_view rest_of(std::string_view bytes) {
    const Record record = read_record(bytes);
    return record.version >= 1 && record.version <= kSlotRecord ? record.rest : std::string_view{};
}

}  // namespace

std::string encode_slot(const Slot& slot, RecordVersion version) {
    return begin(version)
        .number(static_cast<std::uint32_t>(slot.config_id))
        .number(to_number(slot.requested))
        .number(to_number(slot.window_start))
        .number(to_number(slot.scheduled))
        .number(slot.weight)
        .number(to_number(slot.max_delay))
        .number(static_cast<std::uint8_t>(static_cast<unsigned>(slot.state) | static_cast<unsigned>(slot.work)
                                                                                  << kWorkShift))
        .number(slot.revision)
        .number(to_number(slot.since))
        .bytes();
}

std::optional<Slot> decode_slot(std::string_view event_id, std::string_view bytes) {
    auto id = EventId::make(event_id);
    if (!id) {
        return std::nullopt;
    }
    ByteReader reader{rest_of(bytes)};
    Slot slot{std::move(*id), ConfigId{reader.number<std::uint32_t>()}, {}, {}, {}};
    slot.requested = to_instant(reader.number<std::uint64_t>());
    slot.window_start = to_instant(reader.number<std::uint64_t>());
    slot.scheduled = to_instant(reader.number<std::uint64_t>());
    slot.weight = reader.number<Places>();
    if (const auto max_delay = reader.number<std::uint64_t>(); max_delay != 0) {
        slot.max_delay = to_duration(max_delay);
    }
    const auto state = reader.number<std::uint8_t>();
    slot.state = SlotState{static_cast<std::uint8_t>(state & ((1U << kWorkShift) - 1))};
    slot.work = WorkMark{static_cast<std::uint8_t>(state >> kWorkShift)};
    slot.revision = reader.number<std::uint32_t>();
    slot.since = to_instant(reader.number<std::uint64_t>());
    const bool known_state = slot.state == SlotState::Assigned || slot.state == SlotState::Cancelled;
    return reader.consumed() && known_state && slot.work <= WorkMark::Closed ? std::optional{std::move(slot)}
                                                                             : std::nullopt;
}

std::optional<Instant> forgettable_at(std::string_view bytes) {
    constexpr std::size_t kSize = 53;
    const std::string_view rest = rest_of(bytes);
    if (rest.size() != kSize) {
        return std::nullopt;
    }
    ByteReader reader{rest};
    reader.number<std::uint32_t>();
    reader.number<std::uint64_t>();
    reader.number<std::uint64_t>();
    const Instant scheduled = to_instant(reader.number<std::uint64_t>());
    reader.number<Places>();
    reader.number<std::uint64_t>();
    const auto work = WorkMark{static_cast<std::uint8_t>(reader.number<std::uint8_t>() >> kWorkShift)};
    return work == WorkMark::None || work == WorkMark::Closed ? std::optional{scheduled} : std::nullopt;
}

std::string encode_instant(Instant instant, RecordVersion version) {
    return begin(version).number(to_number(instant)).bytes();
}

std::optional<Instant> decode_instant(std::string_view bytes) {
    ByteReader reader{rest_of(bytes)};
    const Instant instant = to_instant(reader.number<std::uint64_t>());
    return reader.consumed() ? std::optional{instant} : std::nullopt;
}

std::string past_prefix(const EventId& event_id) { return event_id.text() + '\0'; }

std::string past_key(const EventId& event_id, std::uint32_t revision) {
    return ByteWriter{}.raw(past_prefix(event_id)).number(revision).bytes();
}

std::string count_key(PoolId pool, WindowIndex window) {
    return ByteWriter{}
        .number(static_cast<std::uint32_t>(pool))
        .number(static_cast<std::uint64_t>(window))
        .bytes();
}

std::optional<WindowIndex> decode_count_key(std::string_view key) {
    ByteReader reader{key};
    reader.number<std::uint32_t>();
    const auto window = static_cast<WindowIndex>(reader.number<std::uint64_t>());
    return reader.consumed() ? std::optional{window} : std::nullopt;
}

// Cells stand behind the places, if there are any: how many, and the owner of each.
std::string encode_content(const WindowContent& content, RecordVersion version) {
    ByteWriter writer = begin(version);
    writer.number(content.places);
    if (content.cells) {
        writer.number(static_cast<std::uint16_t>(content.cells->count()));
        for (const Cell owner : content.cells->owners()) {
            writer.number(owner);
        }
    }
    return std::move(writer).bytes();
}

std::optional<Places> decode_places(std::string_view bytes) {
    const std::string_view rest = rest_of(bytes);
    ByteReader reader{rest};
    const auto places = reader.number<Places>();
    if (reader.consumed()) {
        return places;
    }
    const std::size_t cells = reader.number<std::uint16_t>();
    const bool whole =
        reader.ok() && rest.size() == sizeof places + sizeof(std::uint16_t) + cells * sizeof(Cell);
    return whole ? std::optional{places} : std::nullopt;
}

std::optional<WindowContent> decode_content(std::string_view bytes) {
    ByteReader reader{rest_of(bytes)};
    WindowContent content{reader.number<Places>()};
    if (reader.consumed()) {
        return content;
    }
    std::vector<Cell> owners(reader.number<std::uint16_t>());
    for (Cell& owner : owners) {
        owner = reader.number<Cell>();
    }
    if (reader.consumed()) {
        content.cells = WindowCells::restore(std::move(owners));
    }
    return content.cells ? std::optional{std::move(content)} : std::nullopt;
}

std::string config_key(ConfigId id) {
    return ByteWriter{}.raw("config/").number(static_cast<std::uint32_t>(id)).bytes();
}

namespace {

bool has_spread_or_past(const ConfigVersion& config) {
    return config.terms.spread != Spread::Random || config.terms.past != Past::AsSent;
}

bool has_dispatch(const ConfigVersion& config) { return config.terms.dispatch != DispatchDraft{}; }

void write_dispatch(ByteWriter& writer, const DispatchDraft& dispatch) {
    writer.number(static_cast<std::uint8_t>((dispatch.rate ? kHasRate : 0) |
                                            (dispatch.expires_after ? kHasExpiry : 0) |
                                            (dispatch.retries ? kHasRetries : 0)));
    if (dispatch.rate) {
        writer.number(dispatch.rate->max_per_second).number(static_cast<std::uint8_t>(dispatch.rate->holds));
    }
    if (dispatch.expires_after) {
        writer.number(to_number(dispatch.expires_after));
    }
    if (dispatch.retries) {
        writer.number(static_cast<std::uint8_t>(dispatch.retries->pauses().size()));
        for (const Duration pause : dispatch.retries->pauses()) {
            writer.number(to_number(std::optional{pause}));
        }
    }
}

// Nothing: these are none.
std::optional<DispatchDraft> read_dispatch(ByteReader& reader) {
    DispatchDraft dispatch;
    const auto flags = reader.number<std::uint8_t>();
    if ((flags & kHasRate) != 0) {
        const auto rate = reader.number<std::uint32_t>();
        dispatch.rate = GateTerms{rate, RateHolds{reader.number<std::uint8_t>()}};
        if (dispatch.rate->holds > RateHolds::Sender || rate == 0) {
            return std::nullopt;
        }
    }
    if ((flags & kHasExpiry) != 0) {
        dispatch.expires_after = to_duration(reader.number<std::uint64_t>());
    }
    if ((flags & kHasRetries) != 0) {
        std::vector<Duration> pauses(reader.number<std::uint8_t>());
        for (Duration& pause : pauses) {
            pause = to_duration(reader.number<std::uint64_t>());
        }
        dispatch.retries.emplace(std::move(pauses));
    }
    return reader.ok() ? std::optional{std::move(dispatch)} : std::nullopt;
}

}  // namespace

bool needs_newest_format(const ConfigVersion& config) {
    return has_spread_or_past(config) || has_dispatch(config);
}

bool needs_newest_format(const Slot& slot) { return slot.work != WorkMark::None; }

std::string encode_config(const ConfigVersion& config, RecordVersion version) {
    const std::uint64_t lookahead =
        config.terms.max_lookahead ? static_cast<std::uint64_t>(*config.terms.max_lookahead) + 1 : 0;
    ByteWriter writer = begin(version);
    writer.number(static_cast<std::uint32_t>(config.id))
        .text(config.terms.name.text())
        .number(config.terms.max_per_window)
        .number(to_number(std::optional{config.terms.window_size}))
        .text(config.terms.pool.text())
        .number(lookahead)
        .number(to_number(config.effective_from))
        .number(static_cast<std::uint8_t>((config.active ? kIsActive : 0) |
                                          (has_spread_or_past(config) ? kHasSpreadAndPast : 0) |
                                          (has_dispatch(config) ? kHasDispatch : 0)));
    if (has_spread_or_past(config)) {
        writer.number(static_cast<std::uint8_t>(config.terms.spread))
            .number(static_cast<std::uint8_t>(config.terms.past));
    }
    if (has_dispatch(config)) {
        write_dispatch(writer, config.terms.dispatch);
    }
    return std::move(writer).bytes();
}

std::optional<ConfigVersion> decode_config(std::string_view bytes) {
    ByteReader reader{rest_of(bytes)};
    const auto id = ConfigId{reader.number<std::uint32_t>()};
    const auto name = ConfigName::make(reader.text());
    const auto max_per_window = reader.number<Places>();
    const Duration window_size = to_duration(reader.number<std::uint64_t>());
    const auto pool = PoolName::make(reader.text());
    const auto lookahead = reader.number<std::uint64_t>();
    const Instant effective_from = to_instant(reader.number<std::uint64_t>());
    const auto flags = reader.number<std::uint8_t>();
    const bool active = (flags & kIsActive) != 0;
    const bool is_long = (flags & kHasSpreadAndPast) != 0;
    const auto spread = is_long ? Spread{reader.number<std::uint8_t>()} : Spread::Random;
    const auto past = is_long ? Past{reader.number<std::uint8_t>()} : Past::AsSent;
    if (spread > Spread::Stratified || past > Past::Now) {
        return std::nullopt;
    }
    auto dispatch = (flags & kHasDispatch) != 0 ? read_dispatch(reader) : std::optional{DispatchDraft{}};
    if (!reader.consumed() || !dispatch || !name || !pool || window_size <= Duration{0} ||
        max_per_window == 0) {
        return std::nullopt;
    }
    const auto max_lookahead =
        lookahead == 0 ? std::nullopt : std::optional{static_cast<std::int64_t>(lookahead - 1)};
    return ConfigVersion{id,
                         ConfigDraft{*name, max_per_window, window_size, *pool, max_lookahead, spread, past,
                                     std::move(*dispatch)},
                         effective_from, active};
}

std::string pool_key(const PoolName& name) { return "pool/" + name.text(); }

std::string encode_pool(const Pool& pool, RecordVersion version) {
    return begin(version)
        .number(static_cast<std::uint32_t>(pool.id))
        .text(pool.name.text())
        .number(to_number(std::optional{pool.window_size}))
        .bytes();
}

std::optional<Pool> decode_pool(std::string_view bytes) {
    ByteReader reader{rest_of(bytes)};
    const auto id = PoolId{reader.number<std::uint32_t>()};
    const auto name = PoolName::make(reader.text());
    const Duration window_size = to_duration(reader.number<std::uint64_t>());
    if (!reader.consumed() || !name || window_size <= Duration{0}) {
        return std::nullopt;
    }
    return Pool{id, *name, window_size};
}

}  // namespace sluice::rocks
