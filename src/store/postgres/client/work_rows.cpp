#include "store/postgres/client/work_rows.hpp"

#include "store/postgres/client/row_reader.hpp"

namespace sluice::postgres {
namespace {

template <class Kind>
std::optional<Kind> one_of(std::int64_t number, Kind last) {
    const bool known = number >= 1 && number <= static_cast<std::int64_t>(last);
    return known ? std::optional{static_cast<Kind>(number)} : std::nullopt;
}

// 0: it is over, and waits nowhere.
std::optional<Lane> lane_of(std::int64_t kind, std::string name) {
    if (kind == 0) {
        return Lane{};
    }
    const auto known = one_of(kind, LaneKind::Dead);
    return known ? std::optional{Lane{*known, std::move(name)}} : std::nullopt;
}

}  // namespace

std::optional<StoredWork> read_work(const Rows& rows, std::size_t row, std::size_t first_column) {
    RowReader reader{rows, row, first_column};
    const auto event_id = reader.name<EventId>();
    const auto config = reader.name<ConfigName>();
    const auto pool = reader.name<PoolName>();
    const bool is_routed = !reader.next_is_null();
    Route route{reader.text(), {}};
    route.endpoint = reader.text();
    const auto target = one_of(reader.number(), TargetKind::Kafka);
    const Instant scheduled = reader.instant();
    const auto weight = reader.number_as<Places>();
    const auto expires = reader.instant_if_any();
    const auto state = one_of(reader.number(), WorkState::Withdrawn);
    const auto lane_kind = reader.number();
    auto lane = lane_of(lane_kind, reader.text());
    const Instant due = reader.instant();
    const auto attempts = reader.number_as<std::uint32_t>();
    const auto tries = reader.number_as<std::uint32_t>();
    const auto lines = reader.number_as<std::uint32_t>();
    if (!reader.whole() || !target || !state || !lane) {
        return std::nullopt;
    }
    return StoredWork{{Work{*event_id, *config, *pool, std::move(route), *target, scheduled, weight, expires,
                            *state, std::move(*lane), due, attempts, tries},
                       lines},
                      is_routed};
}

std::optional<WorkOrder> read_order(const Rows& rows, std::size_t row, std::size_t first_column) {
    RowReader reader{rows, row, first_column};
    const auto target = one_of(reader.number(), TargetKind::Kafka);
    WorkOrder order;
    order.target.address = reader.text();
    order.route.host = reader.text();
    order.route.endpoint = reader.text();
    order.payload = reader.bytes();
    order.expires_after = reader.duration_if_any();
    order.traceparent = reader.text();
    if (!reader.whole() || !target) {
        return std::nullopt;
    }
    order.target.kind = *target;
    return order;
}

std::optional<AuditLine> read_line(const Rows& rows, std::size_t row) {
    RowReader reader{rows, row};
    const auto action = one_of(reader.number(), AuditLine::Action::Rated);
    AuditLine line;
    line.at = reader.instant();
    line.attempt = reader.number_as<std::uint32_t>();
    line.status = reader.number_as<std::uint32_t>();
    line.latency = Duration{reader.number()};
    line.by = reader.text();
    line.error = reader.text();
    line.excerpt = reader.text();
    if (!reader.whole() || !action) {
        return std::nullopt;
    }
    line.action = *action;
    return line;
}

}  // namespace sluice::postgres
