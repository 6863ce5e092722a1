#include "store/rocks/gateway/gateway_table_set.hpp"

#include "app/gateway/gateway_store.hpp"
#include "store/rocks/client/row_filters_internal.hpp"
#include "store/rocks/gateway/gateway_codec.hpp"

namespace sluice::rocks {
namespace {

constexpr std::chrono::hours kDaily{24};

}  // namespace

std::vector<TableDraft> GatewayTableSet::tables() const {
    return {{.name = "gateway_users", .keys = KeyOrder::Mixed},
            {.name = "gateway_messages",
             .keys = KeyOrder::Mixed,
             .filter = make_row_filter(nullptr, message_time, kMessageMemory),
             .sorted_every = kDaily},
            {.name = "gateway_requests",
             .keys = KeyOrder::Mixed,
             .filter = make_row_filter(nullptr, request_time, kRequestMemory),
             .sorted_every = kDaily},
            {.name = "gateway_outbox"}};
}

void GatewayTableSet::add(Batch& batch, const GatewayChanges& changes) const {
    batch.need_newest_format();
    const Database& database = batch.database();
    for (const auto& [user, window] : changes.users) {
        batch.put(table(database, GatewayTable::Users), user_key(user), encode_user(window));
    }
    for (const MessageRow& row : changes.messages) {
        batch.put(table(database, GatewayTable::Messages), row.story.id.text(), encode_message(row));
    }
    for (const RequestRow& row : changes.requests) {
        batch.put(table(database, GatewayTable::Requests), request_key(row.key), encode_request(row));
    }
    const auto outbox = table(database, GatewayTable::Outbox);
    for (const WaitingMessage& waiting : changes.waiting) {
        batch.put(outbox, waiting_key(waiting.number), encode_waiting(waiting.message));
    }
    for (const std::uint64_t number : changes.gone) {
        batch.remove(outbox, waiting_key(number));
    }
}

}  // namespace sluice::rocks
