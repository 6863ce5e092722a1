#pragma once

#include <deque>
#include <string_view>
#include <unordered_set>

#include "core/gateway/message.hpp"

namespace sluice {

// The ids of the messages that were sent last, so many at most.
// Thread safety: none.
class RecentIds {
public:
    explicit RecentIds(std::size_t most) : most_{most} {}

    [[nodiscard]] bool has(const MessageId& id) const { return known_.contains(id.text()); }

    // REQUIRES: it is not known.
    void add(MessageId id) {
        if (order_.size() == most_) {
            known_.erase(order_.front().text());
            order_.pop_front();
        }
        known_.insert(order_.emplace_back(std::move(id)).text());
    }

private:
    const std::size_t most_;
    std::deque<MessageId> order_;                 // The oldest first. What is in it does not move.
    std::unordered_set<std::string_view> known_;  // Their texts.
};

}  // namespace sluice
