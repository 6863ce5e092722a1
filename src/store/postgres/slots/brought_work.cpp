#include "store/postgres/slots/brought_work.hpp"

#include "app/slots/slot_errors.hpp"
#include "store/postgres/client/work_rows.hpp"

namespace sluice::postgres {
namespace {

constexpr Statement kAddWorks{
    "add_works",
    "select sluice.add_works(array(select b::sluice.brought_work"
    " from unnest($1::text[], $2::smallint[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::bigint[],"
    " $8::text[]) as b (event_id, target_cd, address_tx, host_nm, endpoint_nm, payload, expires_after_ms,"
    " traceparent_tx)))"};
constexpr Statement kFindOrders{"find_orders", "select o.event_id, " SLUICE_ORDER_COLUMNS
                                               " from sluice.work_order o where o.event_id = any ($1)"};

}  // namespace

void BroughtWorks::add(const EventId& event_id, const WorkOrder& order) {
    empty_ = false;
    events_.add(std::string_view{event_id.text()});
    targets_.add(static_cast<std::int64_t>(order.target.kind));
    addresses_.add(std::string_view{order.target.address});
    hosts_.add(std::string_view{order.route.host});
    endpoints_.add(std::string_view{order.route.endpoint});
    payloads_.add(std::string_view{bytes_text(order.payload)});
    order.expires_after ? expires_after_.add(order.expires_after->count()) : expires_after_.add_null();
    traceparents_.add(std::string_view{order.traceparent});
}

void BroughtWorks::queue_storing(Connection& connection) const {
    connection.queue(kAddWorks, Parameters{}
                                    .add(events_)
                                    .add(targets_)
                                    .add(addresses_)
                                    .add(hosts_)
                                    .add(endpoints_)
                                    .add(payloads_)
                                    .add(expires_after_)
                                    .add(traceparents_));
}

void add_work(Parameters& parameters, const WorkOrder& order) {
    parameters.add(static_cast<std::int64_t>(order.target.kind))
        .add(std::string_view{order.target.address})
        .add(std::string_view{order.route.host})
        .add(std::string_view{order.route.endpoint})
        .add(std::string_view{bytes_text(order.payload)});
    order.expires_after ? parameters.add(order.expires_after->count()) : parameters.add_null();
    parameters.add(std::string_view{order.traceparent});
}

void queue_reading_orders(Connection& connection, const ArrayText& events) {
    connection.queue(kFindOrders, Parameters{}.add(events));
}

Result<StoredOrders, Failure> read_orders(const Rows& rows) {
    StoredOrders orders;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto order = read_order(rows, i, 1);
        if (!order) {
            return Unexpected{Failure{kDamagedRow, "a row of sluice.work_order is damaged"}};
        }
        orders.emplace(rows.text(i, 0), std::move(*order));
    }
    return orders;
}

const WorkOrder* find_order(const StoredOrders& orders, const EventId& event_id) {
    const auto found = orders.find(event_id.text());
    return found == orders.end() ? nullptr : &found->second;
}

SlotOutcome answer_repeat(const KnownEvent& known, const AssignSlot& command, Bodies bodies) {
    auto answer = answer_known(known.slot, known.config, command, bodies);
    if (!answer || !compares_work(command, bodies)) {
        return answer;
    }
    if (known.order == nullptr) {
        return Unexpected{store_unavailable()};  // It was brought with the slot, and goes with it.
    }
    return is_same_work(*known.order, *command.work) ? answer
                                                     : Unexpected{different_body(known.slot.event_id)};
}

}  // namespace sluice::postgres
