#pragma once

#include <array>
#include <map>
#include <mutex>
#include <ostream>
#include <string>
#include <vector>

#include "app/gateway/gateway_observer.hpp"
#include "app/gateway/gateway_store.hpp"
#include "app/gateway/gateway_tables.hpp"
#include "app/gateway/publisher.hpp"
#include "support/slot_words.hpp"

// Short ways to say what tests of the gateway talk about.
namespace sluice::test {

inline constexpr UserId kAnn{101};
inline constexpr UserId kBob{7};

inline MessageId message_id(std::string_view text) { return MessageId::make(text).value(); }
inline MessageId message_id(std::size_t number) { return message_id("m" + std::to_string(number)); }
inline RequestId request_id(std::string_view text) { return RequestId::make(text).value(); }

inline MessageDraft message(UserId user, std::string text = "Hello World") { return {user, std::move(text)}; }
inline MessageDraft named(std::string_view request, MessageDraft draft = message(kAnn)) {
    draft.request = request_id(request);
    return draft;
}
inline MessageDraft valid_for(Duration validity, MessageDraft draft = message(kAnn)) {
    draft.validity = validity;
    return draft;
}

// Counts what the service and the sender tell.
// Thread safety: all of it.
class CountingGatewayMetrics final : public GatewayMetrics {
public:
    void answered(SendOutcome outcome) override { add("answered " + std::to_string(int(outcome))); }
    void reserved(std::size_t messages) override {
        add("calls");
        add("reserved", messages);
    }
    void handed_over(std::chrono::nanoseconds /*duration*/) override { add("handed over"); }
    void left_outbox(MessageState state) override { add(std::string{name_of(state)}); }
    void sender_failed() override { add("sender failed"); }

    [[nodiscard]] std::size_t of(const std::string& what) const {
        const std::lock_guard lock{mutex_};
        const auto found = counts_.find(what);
        return found == counts_.end() ? 0 : found->second;
    }
    [[nodiscard]] std::size_t of(SendOutcome outcome) const {
        return of("answered " + std::to_string(static_cast<int>(outcome)));
    }

private:
    void add(const std::string& what, std::size_t count = 1) {
        const std::lock_guard lock{mutex_};
        counts_[what] += count;
    }

    mutable std::mutex mutex_;
    std::map<std::string, std::size_t> counts_;  // Guarded by mutex_.
};

// Tables that fail on command.
// Thread safety: none.
class FaultyGatewayTables final : public GatewayTables {
public:
    enum class Call : std::size_t { Users, Requests, Messages, Waiting, NextNumber, Commit, Reopen };
    static constexpr std::size_t kCalls = 7;
    // Whether a commit that is told to have failed was really not made.
    enum class Truth { NotDone, DoneAllTheSame };

    explicit FaultyGatewayTables(std::unique_ptr<GatewayTables> tables) : tables_{std::move(tables)} {}

    // The nth call of that kind from now on fails; the first is 1.
    void arm(Call call, std::size_t nth, Truth truth = Truth::NotDone) {
        call_ = call;
        left_ = nth;
        truth_ = truth;
    }
    void heal() { left_ = 0; }
    void set_room(StoreRoom room) { room_ = room; }

    Result<std::vector<std::optional<UserWindow>>, StoreError> users(std::span<const UserId> keys) override {
        return fails(Call::Users) ? Unexpected{broken()} : tables_->users(keys);
    }
    Result<std::vector<std::optional<RequestRow>>, StoreError> requests(
        std::span<const RequestKey> keys) override {
        return fails(Call::Requests) ? Unexpected{broken()} : tables_->requests(keys);
    }
    Result<std::vector<std::optional<MessageRow>>, StoreError> messages(
        std::span<const MessageId> keys) override {
        return fails(Call::Messages) ? Unexpected{broken()} : tables_->messages(keys);
    }
    Result<std::vector<WaitingMessage>, StoreError> waiting(std::uint64_t from, std::size_t most) override {
        return fails(Call::Waiting) ? Unexpected{broken()} : tables_->waiting(from, most);
    }
    Result<std::uint64_t, StoreError> next_number() override {
        return fails(Call::NextNumber) ? Unexpected{broken()} : tables_->next_number();
    }
    Result<void, StoreError> commit(const GatewayChanges& changes) override {
        if (!fails(Call::Commit)) {
            return tables_->commit(changes);
        }
        if (truth_ == Truth::DoneAllTheSame) {
            static_cast<void>(tables_->commit(changes));
        }
        return Unexpected{broken()};
    }
    Result<void, StoreError> reopen() override {
        return fails(Call::Reopen) ? Unexpected{broken()} : tables_->reopen();
    }
    [[nodiscard]] StoreRoom room() const override { return room_; }

private:
    static StoreError broken() { return {"broken by the test"}; }
    bool fails(Call call) { return left_ > 0 && call == call_ && --left_ == 0; }

    const std::unique_ptr<GatewayTables> tables_;
    Call call_ = Call::Commit;
    std::size_t left_ = 0;
    Truth truth_ = Truth::NotDone;
    StoreRoom room_ = StoreRoom::Enough;
};

// Keeps what it is given until the test says how it ended; or ends it at once.
// Thread safety: none.
class FakePublisher final : public Publisher {
public:
    void publish(OutgoingMessage message, Done done) override {
        messages.push_back(std::move(message));
        if (at_once) {
            done(*at_once);
        } else {
            open_.push_back(std::move(done));
        }
    }
    void stop() override { finish_all(Published::Unknown); }

    void finish_all(Published outcome) {
        auto open = std::move(open_);
        open_.clear();
        for (Done& done : open) {
            done(outcome);
        }
    }
    void finish_first(Published outcome) {
        Done done = std::move(open_.front());
        open_.erase(open_.begin());
        done(outcome);
    }
    [[nodiscard]] std::size_t open() const { return open_.size(); }

    std::optional<Published> at_once{};
    std::vector<OutgoingMessage> messages{};

private:
    std::vector<Done> open_;
};

// Remembers what was sent; fails on command.
// Thread safety: all of it.
class RecordingOutlet final : public MessageOutlet {
public:
    bool send(const OutgoingMessage& message) override {
        const std::lock_guard lock{mutex_};
        if (failures_ > 0) {
            --failures_;
            return false;
        }
        sent_.push_back(message);
        return true;
    }
    void fail(std::size_t times) {
        const std::lock_guard lock{mutex_};
        failures_ = times;
    }
    [[nodiscard]] std::vector<OutgoingMessage> sent() const {
        const std::lock_guard lock{mutex_};
        return sent_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<OutgoingMessage> sent_;  // Guarded by mutex_.
    std::size_t failures_ = 0;           // Guarded by mutex_.
};

}  // namespace sluice::test
