#include "store/rocks/work/work_codec.hpp"

#include <algorithm>

namespace sluice::rocks {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kNoEvent = "\0"sv;
constexpr std::string_view kBehindNoEvent = "\1"sv;

std::uint64_t to_number(Instant instant) {
    return static_cast<std::uint64_t>(instant.time_since_epoch().count());
}
std::uint64_t to_number(Duration duration) { return static_cast<std::uint64_t>(duration.count()); }
Duration to_duration(std::uint64_t number) { return Duration{static_cast<Duration::rep>(number)}; }
Instant to_instant(std::uint64_t number) { return Instant{to_duration(number)}; }

// What stands behind the version. Nothing when that is not known: its record reads like one that is cut off.
std::string_view rest_of(std::string_view bytes) {
    const Record record = read_record(bytes);
    return record.version == kWorkRecord ? record.rest : std::string_view{};
}

// Absent is a byte that says so.
template <class Value>
void write_optional(ByteWriter& writer, const std::optional<Value>& value) {
    writer.number(static_cast<std::uint8_t>(value ? 1 : 0));
    if (value) {
        writer.number(to_number(*value));
    }
}
std::optional<std::uint64_t> read_optional(ByteReader& reader) {
    return reader.number<std::uint8_t>() == 0 ? std::nullopt : std::optional{reader.number<std::uint64_t>()};
}

// A payload may be longer than a text.
constexpr std::size_t kPieceMax = 0xFFFF;
void write_long(ByteWriter& writer, std::string_view bytes) {
    writer.number(static_cast<std::uint32_t>(bytes.size()));
    for (; !bytes.empty(); bytes.remove_prefix(std::min(kPieceMax, bytes.size()))) {
        writer.text(bytes.substr(0, kPieceMax));
    }
}
std::string read_long(ByteReader& reader) {
    const std::size_t size = reader.number<std::uint32_t>();
    std::string bytes;
    while (bytes.size() < size && reader.ok()) {
        bytes += reader.text();
    }
    return bytes;
}

bool is_known(WorkState state) { return state >= WorkState::Pending && state <= WorkState::Withdrawn; }
bool is_known(LaneKind kind) { return kind >= LaneKind::Due && kind <= LaneKind::Dead; }
bool is_known(TargetKind kind) { return kind >= TargetKind::Log && kind <= TargetKind::Kafka; }

std::optional<WorkOrder> read_order(ByteReader& reader) {
    WorkOrder order;
    order.target.kind = TargetKind{reader.number<std::uint8_t>()};
    order.target.address = reader.text();
    order.route.host = reader.text();
    order.route.endpoint = reader.text();
    order.traceparent = reader.text();
    if (const auto expires_after = read_optional(reader)) {
        order.expires_after = to_duration(*expires_after);
    }
    order.payload = read_long(reader);
    return reader.ok() && is_known(order.target.kind) ? std::optional{std::move(order)} : std::nullopt;
}

void write_line(ByteWriter& writer, const AuditLine& line) {
    writer.number(to_number(line.at))
        .number(static_cast<std::uint8_t>(line.action))
        .number(line.attempt)
        .number(line.status)
        .number(to_number(line.latency))
        .text(line.by)
        .text(line.error)
        .text(line.excerpt);
}

}  // namespace

// The time and the state come first: whoever sorts files looks at no more.
std::string encode_work(const WorkRow& row) {
    const Work& work = row.work;
    ByteWriter writer = begin_record(kWorkRecord);
    writer.number(to_number(work.scheduled))
        .number(static_cast<std::uint8_t>(work.state))
        .text(work.config.text())
        .text(work.pool.text())
        .text(work.route.host)
        .text(work.route.endpoint)
        .number(static_cast<std::uint8_t>(work.target))
        .number(work.weight)
        .number(static_cast<std::uint8_t>(work.lane.kind))
        .text(work.lane.name)
        .number(to_number(work.due))
        .number(work.attempts)
        .number(work.tries)
        .number(row.lines);
    write_optional(writer, work.expires);
    return std::move(writer).bytes();
}

std::optional<WorkRow> decode_work(std::string_view event_id, std::string_view bytes) {
    ByteReader reader{rest_of(bytes)};
    const Instant scheduled = to_instant(reader.number<std::uint64_t>());
    const auto state = WorkState{reader.number<std::uint8_t>()};
    const auto id = EventId::make(event_id);
    const auto config = ConfigName::make(reader.text());
    const auto pool = PoolName::make(reader.text());
    if (!id || !config || !pool) {
        return std::nullopt;
    }
    WorkRow row{
        {.event_id = *id, .config = *config, .pool = *pool, .route = {}, .scheduled = scheduled, .due = {}}};
    Work& work = row.work;
    work.state = state;
    work.route.host = reader.text();
    work.route.endpoint = reader.text();
    work.target = TargetKind{reader.number<std::uint8_t>()};
    work.weight = reader.number<Places>();
    work.lane.kind = LaneKind{reader.number<std::uint8_t>()};
    work.lane.name = reader.text();
    work.due = to_instant(reader.number<std::uint64_t>());
    work.attempts = reader.number<std::uint32_t>();
    work.tries = reader.number<std::uint32_t>();
    row.lines = reader.number<std::uint32_t>();
    if (const auto expires = read_optional(reader)) {
        work.expires = to_instant(*expires);
    }
    const bool known = is_known(state) && is_known(work.lane.kind) && is_known(work.target);
    return reader.consumed() && known ? std::optional{std::move(row)} : std::nullopt;
}

std::string encode_order(const WorkOrder& order) {
    ByteWriter writer = begin_record(kWorkRecord);
    writer.number(static_cast<std::uint8_t>(order.target.kind))
        .text(order.target.address)
        .text(order.route.host)
        .text(order.route.endpoint)
        .text(order.traceparent);
    write_optional(writer, order.expires_after);
    write_long(writer, order.payload);
    return std::move(writer).bytes();
}

std::optional<WorkOrder> decode_order(std::string_view bytes) {
    ByteReader reader{rest_of(bytes)};
    auto order = read_order(reader);
    while (reader.ok() && !reader.consumed()) {
        reader.number<std::uint64_t>();
    }
    return reader.consumed() ? order : std::nullopt;
}

std::string encode_closed_note(Instant scheduled) {
    return ByteWriter{}.number(to_number(scheduled)).bytes();
}

std::optional<Instant> closed_work_scheduled(std::string_view bytes) {
    ByteReader reader{rest_of(bytes)};
    const Instant scheduled = to_instant(reader.number<std::uint64_t>());
    const auto state = WorkState{reader.number<std::uint8_t>()};
    return reader.ok() && is_final(state) ? std::optional{scheduled} : std::nullopt;
}

std::optional<Instant> closed_order_scheduled(std::string_view bytes) {
    ByteReader reader{rest_of(bytes)};
    if (!read_order(reader) || reader.consumed()) {
        return std::nullopt;
    }
    const Instant scheduled = to_instant(reader.number<std::uint64_t>());
    return reader.ok() ? std::optional{scheduled} : std::nullopt;
}

std::string lane_prefix(const Lane& lane) {
    return ByteWriter{}.number(static_cast<std::uint8_t>(lane.kind)).text(lane.name).bytes();
}

std::string lane_key(const LaneSpot& spot) {
    return ByteWriter{}
        .raw(lane_prefix(spot.lane))
        .number(to_number(spot.point.due))
        .raw(spot.point.event_id)
        .bytes();
}

std::string lane_end(const Lane& lane) {
    return ByteWriter{}.raw(lane_prefix(lane)).number(~std::uint64_t{0}).bytes();
}

std::optional<LaneSpot> decode_lane_key(std::string_view key) {
    ByteReader reader{key};
    LaneSpot spot;
    spot.lane.kind = LaneKind{reader.number<std::uint8_t>()};
    spot.lane.name = reader.text();
    spot.point.due = to_instant(reader.number<std::uint64_t>());
    const std::size_t read =
        sizeof(std::uint8_t) + sizeof(std::uint16_t) + spot.lane.name.size() + sizeof(std::uint64_t);
    if (!reader.ok() || !is_known(spot.lane.kind) || read >= key.size()) {
        return std::nullopt;
    }
    spot.point.event_id = key.substr(read);
    return spot;
}

std::string lines_prefix(std::string_view event_id) { return std::string{event_id} + '\0'; }

std::string line_key(std::string_view event_id, std::uint32_t number) {
    return ByteWriter{}.raw(lines_prefix(event_id)).number(number).bytes();
}

std::string subject_line_key(std::uint64_t number) {
    return ByteWriter{}.raw(kNoEvent).number(number).bytes();
}

std::string_view subject_lines_end() { return kBehindNoEvent; }

std::optional<std::uint64_t> decode_subject_line_key(std::string_view key) {
    if (!key.starts_with(kNoEvent)) {
        return std::nullopt;
    }
    ByteReader reader{key.substr(kNoEvent.size())};
    const auto number = reader.number<std::uint64_t>();
    return reader.consumed() ? std::optional{number} : std::nullopt;
}

std::string encode_line(const AuditLine& line) {
    ByteWriter writer = begin_record(kWorkRecord);
    write_line(writer, line);
    return std::move(writer).bytes();
}

std::string encode_subject_line(const SubjectLine& line) {
    ByteWriter writer = begin_record(kWorkRecord);
    write_line(writer, line.line);
    writer.number(static_cast<std::uint8_t>(line.subject.kind)).text(line.subject.name);
    return std::move(writer).bytes();
}

std::optional<AuditLine> decode_line(std::string_view bytes) {
    ByteReader reader{rest_of(bytes)};
    AuditLine line;
    line.at = to_instant(reader.number<std::uint64_t>());
    line.action = AuditLine::Action{reader.number<std::uint8_t>()};
    line.attempt = reader.number<std::uint32_t>();
    line.status = reader.number<std::uint32_t>();
    line.latency = to_duration(reader.number<std::uint64_t>());
    line.by = reader.text();
    line.error = reader.text();
    line.excerpt = reader.text();
    const bool known = line.action >= AuditLine::Action::Attempt && line.action <= AuditLine::Action::Rated;
    return reader.consumed() && known ? std::optional{std::move(line)} : std::nullopt;
}

std::optional<Instant> line_time(std::string_view bytes) {
    ByteReader reader{rest_of(bytes)};
    const Instant at = to_instant(reader.number<std::uint64_t>());
    return reader.ok() ? std::optional{at} : std::nullopt;
}

std::string sent_key(PoolId pool, WindowIndex window) {
    return ByteWriter{}
        .number(static_cast<std::uint32_t>(pool))
        .number(static_cast<std::uint64_t>(window))
        .bytes();
}

std::string encode_sent(const SentRow& row) {
    return begin_record(kWorkRecord).number(row.sent).number(row.late).bytes();
}

std::optional<SentRow> decode_sent(std::string_view key, std::string_view bytes) {
    ByteReader keys{key};
    ByteReader reader{rest_of(bytes)};
    const auto pool = PoolId{keys.number<std::uint32_t>()};
    const auto window = static_cast<WindowIndex>(keys.number<std::uint64_t>());
    const auto sent = reader.number<Places>();
    const auto late = reader.number<Places>();
    return keys.consumed() && reader.consumed() ? std::optional{SentRow{pool, window, sent, late}}
                                                : std::nullopt;
}

std::string subject_key(std::string_view prefix, const Subject& subject) {
    return ByteWriter{}.raw(prefix).number(static_cast<std::uint8_t>(subject.kind)).raw(subject.name).bytes();
}

std::optional<Subject> decode_subject_key(std::string_view prefix, std::string_view key) {
    if (!key.starts_with(prefix) || key.size() == prefix.size()) {
        return std::nullopt;
    }
    const auto kind = SubjectKind{static_cast<std::uint8_t>(key[prefix.size()])};
    const bool known = kind >= SubjectKind::Config && kind <= SubjectKind::Endpoint;
    return known ? std::optional{Subject{kind, std::string{key.substr(prefix.size() + 1)}}} : std::nullopt;
}

std::string encode_hold(const Hold& hold) {
    return begin_record(kWorkRecord)
        .number(static_cast<std::uint8_t>(hold.why))
        .number(to_number(hold.since))
        .text(hold.by)
        .bytes();
}

std::optional<Hold> decode_hold(std::string_view bytes) {
    ByteReader reader{rest_of(bytes)};
    Hold hold;
    hold.why = Hold::Why{reader.number<std::uint8_t>()};
    hold.since = to_instant(reader.number<std::uint64_t>());
    hold.by = reader.text();
    const bool known = hold.why == Hold::Why::Paused || hold.why == Hold::Why::Gone;
    return reader.consumed() && known ? std::optional{std::move(hold)} : std::nullopt;
}

std::string encode_rate(const GateTerms& rate) {
    return begin_record(kWorkRecord)
        .number(rate.max_per_second)
        .number(static_cast<std::uint8_t>(rate.holds))
        .bytes();
}

std::optional<GateTerms> decode_rate(std::string_view bytes) {
    ByteReader reader{rest_of(bytes)};
    const auto max = reader.number<std::uint32_t>();
    const auto holds = RateHolds{reader.number<std::uint8_t>()};
    return reader.consumed() && max > 0 && holds <= RateHolds::Sender ? std::optional{GateTerms{max, holds}}
                                                                      : std::nullopt;
}

std::string encode_permit(const LentPermit& permit) {
    return begin_record(kWorkRecord)
        .number(static_cast<std::uint8_t>(permit.gate.kind))
        .number(to_number(permit.until))
        .text(permit.gate.name)
        .bytes();
}

std::optional<LentPermit> decode_permit(std::string_view bytes) {
    ByteReader reader{rest_of(bytes)};
    const auto kind = SubjectKind{reader.number<std::uint8_t>()};
    const Instant until = to_instant(reader.number<std::uint64_t>());
    LentPermit permit{{kind, std::string{reader.text()}}, until};
    const bool known = kind == SubjectKind::Pool || kind == SubjectKind::Host;
    return reader.consumed() && known ? std::optional{std::move(permit)} : std::nullopt;
}

}  // namespace sluice::rocks
