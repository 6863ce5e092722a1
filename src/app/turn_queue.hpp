#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <vector>

namespace sluice {

// What to do when the queue is full.
enum class WhenFull { Refuse, WaitForRoom };

struct CombinerLimits {
    std::size_t batch_max = 256;    // Requests that one run takes; a heavier one runs alone.
    std::size_t queue_max = 65536;  // Requests that wait and may be refused, counted by their weight.
    std::size_t workers = 1;
};

// What waits for a combiner's workers. Those that wait for room and those that do not take turns, so that
// neither keeps the other from being served; among themselves they are served in order.
// A ticket has `deadline`, `weight` and `when_full`.
// Thread safety: none.
template <class Ticket>
class TurnQueue {
public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    explicit TurnQueue(CombinerLimits limits) : limits_{limits} {}

    // False when there is no room: the ticket is as it was.
    bool add(Ticket& ticket) {
        if (ticket.when_full == WhenFull::WaitForRoom) {
            patient_.push_back(std::move(ticket));
            return true;
        }
        // One that is heavier than the whole queue fits an empty one.
        if (waiting_ > 0 && waiting_ + ticket.weight > limits_.queue_max) {
            return false;
        }
        waiting_ += ticket.weight;
        prompt_.push_back(std::move(ticket));
        return true;
    }

    [[nodiscard]] bool empty() const { return prompt_.empty() && patient_.empty(); }

    // Adds to `batch` what runs next; nothing when all is empty.
    void take(std::vector<Ticket>& batch) {
        const bool patient = prompt_.empty() || (is_turn_of_patient_ && !patient_.empty());
        is_turn_of_patient_ = !patient;
        std::deque<Ticket>& queue = patient ? patient_ : prompt_;
        std::size_t weight = 0;
        while (!queue.empty() && (batch.empty() || weight + queue.front().weight <= limits_.batch_max)) {
            weight += queue.front().weight;
            batch.push_back(std::move(queue.front()));
            queue.pop_front();
        }
        waiting_ -= patient ? 0 : weight;
    }

    // Of the first that does not wait for room; far away when there is none.
    [[nodiscard]] SteadyTime first_deadline() const {
        return prompt_.empty() ? SteadyTime::max() : prompt_.front().deadline;
    }
    // Takes that one. REQUIRES: there is one.
    Ticket take_first() {
        Ticket ticket = std::move(prompt_.front());
        prompt_.pop_front();
        waiting_ -= ticket.weight;
        return ticket;
    }

    // The weight of those that do not wait for room.
    [[nodiscard]] std::size_t waiting() const { return waiting_; }

private:
    const CombinerLimits limits_;
    std::deque<Ticket> prompt_;
    std::deque<Ticket> patient_;
    bool is_turn_of_patient_ = false;
    std::size_t waiting_ = 0;
};

}  // namespace sluice
