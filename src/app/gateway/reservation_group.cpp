#include "app/gateway/reservation_group.hpp"

namespace sluice {
namespace {

using Decided = Reserved::Verdict;

ReserveReply no_room() {
    return Unexpected{GatewayFault{GatewayFault::Kind::Full, "the disk is nearly full"}};
}

}  // namespace

Result<ReservationGroup, StoreError> ReservationGroup::read(std::span<const SendRequest> requests,
                                                            GatewayTables& tables,
                                                            const ReservationTerms& terms) {
    ReservationGroup group{terms};
    auto read = group.read_users(requests, tables);
    if (read) {
        read = group.read_requests(requests, tables);
    }
    return read ? Result<ReservationGroup, StoreError>{std::move(group)} : Unexpected{read.error()};
}

Result<void, StoreError> ReservationGroup::read_users(std::span<const SendRequest> requests,
                                                      GatewayTables& tables) {
    std::vector<UserId> keys;
    for (const SendRequest& request : requests) {
        if (users_.try_emplace(request.draft.user).second) {
            keys.push_back(request.draft.user);
        }
    }
    const auto rows = tables.users(keys);
    if (!rows) {
        return Unexpected{rows.error()};
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (const auto& row = (*rows)[i]) {
            users_[keys[i]].row = *row;
        } else {
            users_.erase(keys[i]);
        }
    }
    return {};
}

Result<void, StoreError> ReservationGroup::read_requests(std::span<const SendRequest> requests,
                                                         GatewayTables& tables) {
    std::vector<RequestKey> keys;
    for (const SendRequest& request : requests) {
        if (request.draft.request) {
            keys.push_back({request.draft.user, *request.draft.request});
        }
    }
    if (keys.empty()) {
        return {};
    }
    const auto rows = tables.requests(keys);
    if (!rows) {
        return Unexpected{rows.error()};
    }
    std::vector<MessageId> ids;
    for (const auto& row : *rows) {
        if (row && terms_.now - row->at < kRequestMemory &&
            requests_.try_emplace(row->key, Kept<RequestRow>{*row}).second) {
            ids.push_back(row->message);
        }
    }
    const auto messages = tables.messages(ids);
    if (!messages) {
        return Unexpected{messages.error()};
    }
    for (const auto& message : *messages) {
        if (message) {
            messages_.try_emplace(message->story.id, Kept<MessageRow>{*message});
        }
    }
    return {};
}

ReservationGroup::Kept<MessageRow>* ReservationGroup::known(const SendRequest& request) {
    if (!request.draft.request) {
        return nullptr;
    }
    const auto row = requests_.find({request.draft.user, *request.draft.request});
    if (row == requests_.end()) {
        return nullptr;
    }
    const auto message = messages_.find(row->second.row.message);
    return message == messages_.end() ? nullptr : &message->second;
}

ReserveReply ReservationGroup::decide(const SendRequest& request) {
    const auto user = users_.find(request.draft.user);
    if (user == users_.end()) {
        return Reserved{Decided::UnknownUser};
    }
    Kept<MessageRow>* const message = known(request);
    return message == nullptr ? decide_anew(request, user->second, request.id)
                              : decide_known(request, user->second, *message);
}

ReserveReply ReservationGroup::decide_known(const SendRequest& request, Kept<UserWindow>& user,
                                            Kept<MessageRow>& message) {
    const MessageRow& row = message.row;
    if (row.acknowledged) {
        return Reserved{Decided::Accepted, row.story.id};
    }
    // One that failed has given its place back.
    if (row.story.state != MessageState::Queued || !still_counted(user.row, row.window_start, terms_.now)) {
        return decide_anew(request, user, MessageId{row.story.id});
    }
    return terms_.room == StoreRoom::Enough ? hand_over(request, message, Decided::Standing) : no_room();
}

ReserveReply ReservationGroup::decide_anew(const SendRequest& request, Kept<UserWindow>& user,
                                           const MessageId& id) {
    const WindowStep asked = sluice::reserve(user.row, terms_.now, 1);
    if (asked.granted == 0) {
        return Reserved{.verdict = Decided::Denied, .retry_after = asked.retry_after};
    }
    if (terms_.room != StoreRoom::Enough) {
        return no_room();
    }
    const MessageDraft& draft = request.draft;
    user = {asked.next, true};
    MessageRow row{.story = {id, draft.user, MessageState::Queued, terms_.now, terms_.now},
                   .window_start = asked.next.start,
                   .expires = draft.validity ? std::optional{terms_.now + *draft.validity} : std::nullopt};
    Kept<MessageRow>& message =
        messages_.insert_or_assign(id, Kept<MessageRow>{std::move(row)}).first->second;
    if (draft.request) {
        const RequestKey key{draft.user, *draft.request};
        requests_.insert_or_assign(key, Kept<RequestRow>{{key, id, terms_.now}, true});
    }
    return hand_over(request, message, Decided::Granted);
}

Reserved ReservationGroup::hand_over(const SendRequest& request, Kept<MessageRow>& message, Decided verdict) {
    MessageRow& row = message.row;
    message.changed = true;
    ++row.handed_out;
    if (terms_.handover == Handover::Outbox) {
        row.acknowledged = true;
        const MessageDraft& draft = request.draft;
        waiting_.push_back({terms_.next_number + waiting_.size(),
                            {row.story.id, draft.user, draft.text, draft.to, draft.from, row.expires}});
    }
    const bool again = verdict == Decided::Standing && row.acknowledged;
    return {again ? Decided::Accepted : verdict, row.story.id, row.window_start, row.expires};
}

GatewayChanges ReservationGroup::take_changes() {
    GatewayChanges changes;
    for (auto& [user, kept] : users_) {
        if (kept.changed) {
            changes.users.emplace_back(user, kept.row);
        }
    }
    for (auto& [key, kept] : requests_) {
        if (kept.changed) {
            changes.requests.push_back(std::move(kept.row));
        }
    }
    for (auto& [id, kept] : messages_) {
        if (kept.changed) {
            changes.messages.push_back(std::move(kept.row));
        }
    }
    changes.waiting = std::move(waiting_);
    return changes;
}

}  // namespace sluice
