#include "store/memory/memory_gateway_tables.hpp"

#include <deque>
#include <map>

#include "app/gateway/gateway_store.hpp"

namespace sluice {
namespace {

// Rows by key, of which those go that are older than `memory_` before the newest.
template <class Key, class Row>
class AgingRows {
public:
    explicit AgingRows(Duration memory) : memory_{memory} {}

    void put(const Key& key, const Row& row, Instant at) {
        rows_.insert_or_assign(key, Kept{row, at});
        by_age_.emplace_back(at, key);
        while (by_age_.front().first + memory_ < at) {
            // It may have been written again since.
            const auto found = rows_.find(by_age_.front().second);
            if (found != rows_.end() && found->second.at == by_age_.front().first) {
                rows_.erase(found);
            }
            by_age_.pop_front();
        }
    }

    [[nodiscard]] std::optional<Row> find(const Key& key) const {
        const auto found = rows_.find(key);
        return found == rows_.end() ? std::nullopt : std::optional{found->second.row};
    }

private:
    struct Kept {
        Row row;
        Instant at;
    };
    const Duration memory_;
    std::map<Key, Kept> rows_;
    std::deque<std::pair<Instant, Key>> by_age_;  // In the order in which they were written.
};

class MemoryGatewayTables final : public GatewayTables {
public:
    Result<std::vector<std::optional<UserWindow>>, StoreError> users(std::span<const UserId> keys) override {
        std::vector<std::optional<UserWindow>> found;
        for (const UserId key : keys) {
            const auto row = users_.find(key);
            found.push_back(row == users_.end() ? std::nullopt : std::optional{row->second});
        }
        return found;
    }

    Result<std::vector<std::optional<RequestRow>>, StoreError> requests(
        std::span<const RequestKey> keys) override {
        std::vector<std::optional<RequestRow>> found;
        for (const RequestKey& key : keys) {
            found.push_back(requests_.find(key));
        }
        return found;
    }

    Result<std::vector<std::optional<MessageRow>>, StoreError> messages(
        std::span<const MessageId> keys) override {
        std::vector<std::optional<MessageRow>> found;
        for (const MessageId& key : keys) {
            found.push_back(messages_.find(key));
        }
        return found;
    }

    Result<std::vector<WaitingMessage>, StoreError> waiting(std::uint64_t from, std::size_t most) override {
        std::vector<WaitingMessage> found;
        for (auto row = waiting_.lower_bound(from); row != waiting_.end() && found.size() < most; ++row) {
            found.push_back({row->first, row->second});
        }
        return found;
    }

    Result<std::uint64_t, StoreError> next_number() override {
        return waiting_.empty() ? 0 : waiting_.rbegin()->first + 1;
    }

    Result<void, StoreError> commit(const GatewayChanges& changes) override {
        for (const auto& [user, window] : changes.users) {
            users_.insert_or_assign(user, window);
        }
        for (const MessageRow& row : changes.messages) {
            messages_.put(row.story.id, row, row.story.changed);
        }
        for (const RequestRow& row : changes.requests) {
            requests_.put(row.key, row, row.at);
        }
        for (const WaitingMessage& one : changes.waiting) {
            waiting_.insert_or_assign(one.number, one.message);
        }
        for (const std::uint64_t number : changes.gone) {
            waiting_.erase(number);
        }
        return {};
    }

    Result<void, StoreError> reopen() override { return {}; }
    [[nodiscard]] StoreRoom room() const override { return StoreRoom::Enough; }

private:
    // The ledger's calls come one at a time.
    std::map<UserId, UserWindow> users_;
    AgingRows<MessageId, MessageRow> messages_{kMessageMemory};
    AgingRows<RequestKey, RequestRow> requests_{kRequestMemory};
    std::map<std::uint64_t, OutgoingMessage> waiting_;
};

}  // namespace

std::unique_ptr<GatewayTables> make_memory_gateway_tables() {
    return std::make_unique<MemoryGatewayTables>();
}

}  // namespace sluice
