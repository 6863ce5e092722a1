#include "app/gateway/gateway_ledger.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "app/gateway/reservation_group.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "Gateway";
constexpr Duration kRecoveryPause{200};

GatewayFault unavailable(std::string what) { return {GatewayFault::Kind::Unavailable, std::move(what)}; }

class GatewayLedger final : public GatewayStore, private Outbox {
public:
    GatewayLedger(std::unique_ptr<GatewayTables> tables, GatewayLedgerWorld world)
        : tables_{std::move(tables)}, world_{world} {
        const std::lock_guard lock{mutex_};
        start_over();
    }

    std::vector<ReserveReply> reserve(std::span<const SendRequest> requests, Handover handover) override {
        const std::lock_guard lock{mutex_};
        if (!recovered()) {
            return refuse_all(requests);
        }
        auto group = ReservationGroup::read(requests, *tables_,
                                            {world_.clock.now(), handover, tables_->room(), next_number_});
        if (!group) {
            fail(group.error());
            return refuse_all(requests);
        }
        std::vector<ReserveReply> replies;
        replies.reserve(requests.size());
        for (const SendRequest& request : requests) {
            replies.push_back(group->decide(request));
        }
        const GatewayChanges changes = group->take_changes();
        if (const auto stored = commit(changes); !stored) {
            doubt(replies, stored.error());
        }
        return replies;
    }

    Result<void, StoreError> settle(std::span<const MessageSettlement> settlements) override {
        const std::lock_guard lock{mutex_};
        if (!recovered()) {
            return Unexpected{closed()};
        }
        Settling settling;
        if (auto read = read_settled(settlements, settling); !read) {
            return read;
        }
        for (const MessageSettlement& settlement : settlements) {
            settle_one(settlement, settling);
        }
        return commit(std::move(settling).changes());
    }

    Result<UserWindow, GatewayFault> put_user(UserId user, const UserTerms& terms) override {
        const std::lock_guard lock{mutex_};
        if (!recovered()) {
            return Unexpected{unavailable(closed().what)};
        }
        if (tables_->room() != StoreRoom::Enough) {
            return Unexpected{GatewayFault{GatewayFault::Kind::Full, "the disk is nearly full"}};
        }
        const UserWindow window{terms, 0, world_.clock.now()};
        GatewayChanges changes;
        changes.users.emplace_back(user, window);
        if (const auto stored = commit(changes); !stored) {
            return Unexpected{GatewayFault{GatewayFault::Kind::Unknown, stored.error().what}};
        }
        return window;
    }

    Result<std::optional<UserWindow>, GatewayFault> find_user(UserId user) override {
        const std::lock_guard lock{mutex_};
        if (!recovered()) {
            return Unexpected{unavailable(closed().what)};
        }
        const auto found = tables_->users({&user, 1});
        if (!found) {
            fail(found.error());
            return Unexpected{unavailable(found.error().what)};
        }
        return found->front();
    }

    Result<std::optional<MessageStory>, GatewayFault> find_message(const MessageId& id) override {
        const std::lock_guard lock{mutex_};
        if (!recovered()) {
            return Unexpected{unavailable(closed().what)};
        }
        const auto found = tables_->messages({&id, 1});
        if (!found) {
            fail(found.error());
            return Unexpected{unavailable(found.error().what)};
        }
        const auto& row = found->front();
        const bool known = row && world_.clock.now() - row->story.queued < kMessageMemory;
        return known ? std::optional{row->story} : std::nullopt;
    }

    Outbox& outbox() override { return *this; }

    bool available() override {
        const std::lock_guard lock{mutex_};
        return recovered();
    }

private:
    // The rows that settlements are about.
    struct Settling {
        std::map<MessageId, MessageRow> messages;
        std::map<UserId, UserWindow> users;
        std::map<MessageId, MessageRow> changed_messages{};
        std::map<UserId, UserWindow> changed_users{};

        [[nodiscard]] GatewayChanges changes() && {
            GatewayChanges changes;
            for (auto& [id, row] : changed_messages) {
                changes.messages.push_back(std::move(row));
            }
            changes.users.assign(changed_users.begin(), changed_users.end());
            return changes;
        }
    };

    Result<std::vector<WaitingMessage>, StoreError> waiting(std::size_t most) override {
        const std::lock_guard lock{mutex_};
        if (!recovered()) {
            return Unexpected{closed()};
        }
        auto found = tables_->waiting(first_number_, most);
        if (!found) {
            fail(found.error());
        } else {
            // Behind what is gone: the next look need not pass it again.
            first_number_ = found->empty() ? next_number_ : found->front().number;
        }
        return found;
    }

    Result<void, StoreError> close(std::span<const OutboxClosing> closings) override {
        const std::lock_guard lock{mutex_};
        if (!recovered()) {
            return Unexpected{closed()};
        }
        std::vector<MessageId> ids;
        for (const OutboxClosing& closing : closings) {
            ids.push_back(closing.id);
        }
        const auto rows = tables_->messages(ids);
        if (!rows) {
            fail(rows.error());
            return Unexpected{rows.error()};
        }
        GatewayChanges changes;
        for (std::size_t i = 0; i < closings.size(); ++i) {
            changes.gone.push_back(closings[i].number);
            if (auto row = (*rows)[i]) {
                row->story.state = closings[i].state;
                row->story.changed = world_.clock.now();
                changes.messages.push_back(*std::move(row));
            }
        }
        return commit(changes);
    }

    Instant time() override { return world_.clock.now(); }

    Result<void, StoreError> read_settled(std::span<const MessageSettlement> settlements,
                                          Settling& settling) {
        std::vector<MessageId> ids;
        std::vector<UserId> users;
        for (const MessageSettlement& settlement : settlements) {
            ids.push_back(settlement.id);
            users.push_back(settlement.user);
        }
        const auto messages = tables_->messages(ids);
        if (!messages) {
            fail(messages.error());
            return Unexpected{messages.error()};
        }
        const auto windows = tables_->users(users);
        if (!windows) {
            fail(windows.error());
            return Unexpected{windows.error()};
        }
        for (std::size_t i = 0; i < ids.size(); ++i) {
            if (const auto& row = (*messages)[i]) {
                settling.messages.try_emplace(ids[i], *row);
            }
            if (const auto& row = (*windows)[i]) {
                settling.users.try_emplace(users[i], *row);
            }
        }
        return {};
    }

    void settle_one(const MessageSettlement& settlement, Settling& settling) const {
        const auto message = settling.messages.find(settlement.id);
        if (message == settling.messages.end()) {
            return;
        }
        MessageRow& row = message->second;
        const bool open = !row.acknowledged && row.story.state == MessageState::Queued &&
                          row.window_start == settlement.window_start;
        if (!open || settlement.outcome == Published::Unknown) {
            return;
        }
        if (settlement.outcome == Published::Acknowledged) {
            row.acknowledged = true;
            settling.changed_messages.insert_or_assign(settlement.id, row);
            return;
        }
        // Another publication of it may be under way, and may arrive.
        if (row.handed_out > 1) {
            return;
        }
        row.story.state = MessageState::Failed;
        row.story.changed = world_.clock.now();
        settling.changed_messages.insert_or_assign(settlement.id, row);
        if (const auto user = settling.users.find(settlement.user); user != settling.users.end()) {
            user->second = refund(user->second, settlement.window_start);
            settling.changed_users.insert_or_assign(user->first, user->second);
        }
    }

    // Nobody knows what of this group was stored.
    static void doubt(std::vector<ReserveReply>& replies, const StoreError& error) {
        for (ReserveReply& reply : replies) {
            if (!reply || reply->verdict == Reserved::Verdict::UnknownUser) {
                continue;
            }
            const bool stored_perhaps = reply->id.has_value();
            reply = Unexpected{
                GatewayFault{stored_perhaps ? GatewayFault::Kind::Unknown : GatewayFault::Kind::Unavailable,
                             error.what, reply->id}};
        }
    }

    static std::vector<ReserveReply> refuse_all(std::span<const SendRequest> requests) {
        return std::vector<ReserveReply>(requests.size(), Unexpected{unavailable(closed().what)});
    }

    static StoreError closed() { return {"the store is closed after a failure"}; }

    Result<void, StoreError> commit(const GatewayChanges& changes) {
        if (changes.empty()) {
            return {};
        }
        if (tables_->room() == StoreRoom::None) {
            // A write could fail half way, and would take the store from everybody.
            return Unexpected{StoreError{"the disk is full"}};
        }
        if (auto written = tables_->commit(changes); !written) {
            fail(written.error());
            return written;
        }
        next_number_ += changes.waiting.size();
        return {};
    }

    void fail(const StoreError& error) {
        world_.log.write(LogLevel::Error, kComponent, "Store failed, sending stops: " + error.what);
        healthy_ = false;
        next_attempt_ = world_.clock.now() + kRecoveryPause;
    }

    // True when it may go on, after an attempt to recover if one is due.
    bool recovered() {
        if (healthy_) {
            return true;
        }
        const Instant now = world_.clock.now();
        // The second half holds when the clock stepped back: no attempt is further away than one pause.
        if (now < next_attempt_ && next_attempt_ - now <= kRecoveryPause) {
            return false;
        }
        next_attempt_ = now + kRecoveryPause;
        if (const auto reopened = tables_->reopen(); !reopened) {
            world_.log.write(LogLevel::Warn, kComponent,
                             "Store does not reopen yet: " + reopened.error().what);
            return false;
        }
        start_over();
        if (healthy_) {
            world_.log.write(LogLevel::Info, kComponent, "Store recovered, sending goes on");
        }
        return healthy_;
    }

    void start_over() {
        const auto next = tables_->next_number();
        if (!next) {
            fail(next.error());
            return;
        }
        next_number_ = std::max(next_number_, *next);
        first_number_ = 0;
        healthy_ = true;
    }

    const std::unique_ptr<GatewayTables> tables_;
    const GatewayLedgerWorld world_;
    std::mutex mutex_;  // Guards everything below.
    bool healthy_ = false;
    Instant next_attempt_{};
    std::uint64_t next_number_ = 0;   // For the next that waits.
    std::uint64_t first_number_ = 0;  // Nobody waits with a lower one.
};

}  // namespace

std::unique_ptr<GatewayStore> make_gateway_ledger(std::unique_ptr<GatewayTables> tables,
                                                  GatewayLedgerWorld world) {
    return std::make_unique<GatewayLedger>(std::move(tables), world);
}

}  // namespace sluice
