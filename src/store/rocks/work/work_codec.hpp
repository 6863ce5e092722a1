#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/dispatch/work_tables.hpp"
#include "store/rocks/client/record.hpp"

namespace sluice::rocks {

// How rows of work look on disk. Whoever changes what one holds raises kWorkRecord and the folder's format,
// and goes on reading all that was written before.
inline constexpr RecordVersion kWorkRecord = 1;

// Works and orders stand under their event.
std::string encode_work(const WorkRow& row);
std::optional<WorkRow> decode_work(std::string_view event_id, std::string_view bytes);

// An order is written once. When its work is final a note is added behind it, or several that say the same.
std::string encode_order(const WorkOrder& order);
std::optional<WorkOrder> decode_order(std::string_view bytes);
std::string encode_closed_note(Instant scheduled);

// When the time of a closed one was, without the rest. Nothing when it is none, or not closed.
std::optional<Instant> closed_work_scheduled(std::string_view bytes);
std::optional<Instant> closed_order_scheduled(std::string_view bytes);

// Lanes are an index: all is in the key. The length of the name stands before it, so that no lane lies
// between the points of another; then come the time and the event.
std::string lane_prefix(const Lane& lane);
std::string lane_key(const LaneSpot& spot);
// Behind all points of the lane, before those of any other.
std::string lane_end(const Lane& lane);
std::optional<LaneSpot> decode_lane_key(std::string_view key);

// The lines of an event stand under it and their number; those of subjects under no event, which is no name.
std::string line_key(std::string_view event_id, std::uint32_t number);
std::string lines_prefix(std::string_view event_id);
std::string subject_line_key(std::uint64_t number);
std::string_view subject_lines_end();
std::optional<std::uint64_t> decode_subject_line_key(std::string_view key);
std::string encode_line(const AuditLine& line);
std::string encode_subject_line(const SubjectLine& line);
std::optional<AuditLine> decode_line(std::string_view bytes);
// When a line of either kind was written. Nothing when it is none.
std::optional<Instant> line_time(std::string_view bytes);

std::string sent_key(PoolId pool, WindowIndex window);
std::string encode_sent(const SentRow& row);
std::optional<SentRow> decode_sent(std::string_view key, std::string_view bytes);

// In the folder's own table.
inline constexpr std::string_view kHoldPrefix = "hold/";
inline constexpr std::string_view kRatePrefix = "rate/";
std::string subject_key(std::string_view prefix, const Subject& subject);
std::optional<Subject> decode_subject_key(std::string_view prefix, std::string_view key);
std::string encode_hold(const Hold& hold);
std::optional<Hold> decode_hold(std::string_view bytes);
std::string encode_rate(const GateTerms& rate);
std::optional<GateTerms> decode_rate(std::string_view bytes);
inline constexpr std::string_view kPermitPrefix = "permit/";  // And its id.
std::string encode_permit(const LentPermit& permit);
std::optional<LentPermit> decode_permit(std::string_view bytes);

}  // namespace sluice::rocks
