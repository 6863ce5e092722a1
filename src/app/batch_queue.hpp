#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "base/runtime.hpp"

namespace sluice {

// What to do when the queue is full.
enum class WhenFull { Refuse, WaitForRoom };

struct CombinerLimits {
    std::size_t batch_max = 256;    // Requests that one run takes; a heavier one runs alone.
    std::size_t queue_max = 65536;  // Requests that wait and may be refused, counted by their weight.
    std::size_t workers = 1;
};

// What waits for a combiner's workers. Those that wait for room and those that do not take turns, so that
// neither keeps the other from being served; among themselves they are served in order. Whose deadline has
// come is late, and is not served.
// A ticket has `deadline`, `weight` and `when_full`.
// Pure: reads no clock and waits for nobody. Thread safety: none.
template <class Ticket>
class BatchQueue {
public:
    explicit BatchQueue(CombinerLimits limits) : limits_{limits} {}

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

    // Adds to `batch` what runs next, and to `late` whose turn has come too late; nothing when all is empty.
    void take(SteadyTime now, std::vector<Ticket>& batch, std::vector<Ticket>& late) {
        const bool patient = prompt_.empty() || (is_turn_of_patient_ && !patient_.empty());
        is_turn_of_patient_ = !patient;
        std::deque<Ticket>& queue = patient ? patient_ : prompt_;
        std::size_t weight = 0;
        while (!queue.empty() && (weight == 0 || weight + queue.front().weight <= limits_.batch_max)) {
            weight += queue.front().weight;
            (queue.front().deadline > now ? batch : late).push_back(std::move(queue.front()));
            queue.pop_front();
        }
        waiting_ -= patient ? 0 : weight;
    }

    // The deadline of the first that does not wait for room; far away when there is none.
    [[nodiscard]] SteadyTime first_deadline() const {
        return prompt_.empty() ? SteadyTime::max() : prompt_.front().deadline;
    }
    // Adds to `late` those at the front whose deadline has come, at most `most` of them.
    // REQUIRES: now is not the end of all time.
    void take_late(SteadyTime now, std::vector<Ticket>& late, std::size_t most) {
        for (; first_deadline() <= now && most > 0; --most) {
            waiting_ -= prompt_.front().weight;
            late.push_back(std::move(prompt_.front()));
            prompt_.pop_front();
        }
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
