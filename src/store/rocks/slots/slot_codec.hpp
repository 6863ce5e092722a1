#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/slots/slot_tables.hpp"
#include "store/rocks/client/record.hpp"

namespace sluice::rocks {

// How rows look on disk. Whoever changes what one holds raises kSlotRecord and kFormatVersion, and goes on
// reading all that was written before: tests/fault/samples has a folder of each format.

// The version that rows are written in, and the newest that can be read. Version 1 is the same without the
// byte that says so.
inline constexpr RecordVersion kSlotRecord = 2;

// The version for a folder of this format: a Sluice that knows no more must be able to read it.
constexpr RecordVersion slot_record_for(std::uint32_t format) { return format < 4 ? 1 : kSlotRecord; }

inline constexpr const char* kHorizonKey = "horizon";  // In the folder's own table.

std::string encode_slot(const Slot& slot, RecordVersion version = kSlotRecord);
std::optional<Slot> decode_slot(std::string_view event_id, std::string_view bytes);

// When a slot's time is, of an encoded one, without the rest. Nothing when it is none, or when its work is
// open.
std::optional<Instant> forgettable_at(std::string_view bytes);

std::string encode_instant(Instant instant, RecordVersion version = kSlotRecord);
std::optional<Instant> decode_instant(std::string_view bytes);

// Past slots stand under their event and revision, so that they sort by both: event ids hold no zero byte.
std::string past_key(const EventId& event_id, std::uint32_t revision);
std::string past_prefix(const EventId& event_id);

std::string count_key(PoolId pool, WindowIndex window);
std::optional<WindowIndex> decode_count_key(std::string_view key);
std::string encode_content(const WindowContent& content, RecordVersion version = kSlotRecord);
std::optional<WindowContent> decode_content(std::string_view bytes);
// Of encoded content, without a look at the cells themselves.
std::optional<Places> decode_places(std::string_view bytes);

std::string config_key(ConfigId id);
// True when an older format could not hold it.
bool needs_newest_format(const ConfigVersion& config);
bool needs_newest_format(const Slot& slot);
std::string encode_config(const ConfigVersion& config, RecordVersion version = kSlotRecord);
std::optional<ConfigVersion> decode_config(std::string_view bytes);

std::string pool_key(const PoolName& name);
std::string encode_pool(const Pool& pool, RecordVersion version = kSlotRecord);
std::optional<Pool> decode_pool(std::string_view bytes);

}  // namespace sluice::rocks
