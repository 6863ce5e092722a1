#pragma once

#include <map>

#include "app/gateway/gateway_store.hpp"
#include "app/gateway/gateway_tables.hpp"

namespace sluice {

// How a group of requests is decided.
struct ReservationTerms {
    Instant now;
    Handover handover;
    StoreRoom room;
    std::uint64_t next_number;  // In the outbox.
};

// The rows that a group of requests is about, while they are decided one after the other: each sees what
// those before it did. Nothing is stored here.
// Thread safety: none.
class ReservationGroup {
public:
    static Result<ReservationGroup, StoreError> read(std::span<const SendRequest> requests,
                                                     GatewayTables& tables, const ReservationTerms& terms);

    ReserveReply decide(const SendRequest& request);

    // What was decided, to be stored.
    [[nodiscard]] GatewayChanges take_changes();

private:
    template <class Row>
    struct Kept {
        Row row;
        bool changed = false;
    };
    using Users = std::map<UserId, Kept<UserWindow>>;
    using Requests = std::map<RequestKey, Kept<RequestRow>>;
    using Messages = std::map<MessageId, Kept<MessageRow>>;

    explicit ReservationGroup(const ReservationTerms& terms) : terms_{terms} {}
    Result<void, StoreError> read_users(std::span<const SendRequest> requests, GatewayTables& tables);
    Result<void, StoreError> read_requests(std::span<const SendRequest> requests, GatewayTables& tables);

    // Null: it is not known.
    Kept<MessageRow>* known(const SendRequest& request);
    ReserveReply decide_known(const SendRequest& request, Kept<UserWindow>& user, Kept<MessageRow>& message);
    ReserveReply decide_anew(const SendRequest& request, Kept<UserWindow>& user, const MessageId& id);
    // It has its place: for whoever sends it.
    Reserved hand_over(const SendRequest& request, Kept<MessageRow>& message, Reserved::Verdict verdict);

    const ReservationTerms terms_;
    Users users_;
    Requests requests_;
    Messages messages_;
    std::vector<WaitingMessage> waiting_;
};

}  // namespace sluice
