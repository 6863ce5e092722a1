#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "base/unique_function.hpp"

namespace sluice {

// Why a combiner did not run a request.
enum class Refusal {
    Overloaded,  // The queue was full.
    Expired,     // The deadline passed before its turn came.
    Stopped,     // The combiner is shutting down.
};

// What to do when the queue is full.
enum class WhenFull { Refuse, WaitForRoom };

struct CombinerLimits {
    std::size_t batch_max = 256;    // Requests that one run takes; a heavier one runs alone.
    std::size_t queue_max = 65536;  // Waiting requests, counted by their weight.
    std::size_t workers = 1;
};

// Turns requests that arrive one by one into batches: a worker takes all that is waiting, up to batch_max,
// runs it at once, and completes each request. There is no timer: alone, a request runs at once; under load
// the batch grows while the one before it runs.
// It promises:
//   - the queue is bounded; whoever waits for room bounds itself by what it has under way;
//   - a request that was taken into a run is completed with that run's reply, never with Expired;
//   - every submitted request is completed exactly once, from a worker or from submit() itself.
// Thread safety: submit() and stop() from any thread. Completions run on a worker and must not block.
template <class Request, class Reply>
class Combiner {
public:
    using SteadyTime = std::chrono::steady_clock::time_point;
    using Completion = UniqueFunction<void(Result<Reply, Refusal>)>;
    // Gives one reply per request, in order. Does not throw.
    using Run = std::function<std::vector<Reply>(std::span<Request>)>;

    struct Ticket {
        Request request;
        Completion complete;
        SteadyTime deadline = SteadyTime::max();
        std::size_t weight = 1;
        WhenFull when_full = WhenFull::Refuse;
    };

    Combiner(CombinerLimits limits, Run run) : limits_{limits}, run_{std::move(run)} {
        for (std::size_t i = 0; i < limits_.workers; ++i) {
            workers_.emplace_back([this] { work(); });
        }
    }

    ~Combiner() { stop(); }
    Combiner(const Combiner&) = delete;
    Combiner& operator=(const Combiner&) = delete;

    void submit(Ticket ticket) {
        const auto refusal = enqueue(ticket);
        if (refusal) {
            ticket.complete(Unexpected{*refusal});
        }
    }

    // Refuses what comes from now on, runs what is waiting, and returns when all of it is complete.
    void stop() {
        {
            const std::lock_guard lock{mutex_};
            stopping_ = true;
        }
        work_arrived_.notify_all();
        const std::lock_guard lock{join_mutex_};
        workers_.clear();
    }

    // The weight that waits now.
    [[nodiscard]] std::size_t waiting_approx() const {
        const std::lock_guard lock{mutex_};
        return waiting_;
    }

private:
    std::optional<Refusal> enqueue(Ticket& ticket) {
        bool wake = false;
        {
            const std::lock_guard lock{mutex_};
            if (stopping_) {
                return Refusal::Stopped;
            }
            const bool waits = ticket.when_full == WhenFull::WaitForRoom;
            const bool room = waits ? parked_.empty() && has_half_room(ticket) : fits(ticket);
            if (!room && !waits) {
                return Refusal::Overloaded;
            }
            if (room) {
                waiting_ += ticket.weight;
            }
            (room ? queue_ : parked_).push_back(std::move(ticket));
            wake = idle_ > 0;
        }
        if (wake) {
            work_arrived_.notify_one();
        }
        return std::nullopt;
    }

    // Those that wait for room share half of the queue: they never crowd out those that cannot wait.
    // REQUIRES: mutex_ is held.
    bool has_half_room(const Ticket& ticket) const {
        return waiting_ == 0 || waiting_ + ticket.weight <= limits_.queue_max / 2;
    }

    // REQUIRES: mutex_ is held. A ticket heavier than the whole queue fits an empty one.
    bool fits(const Ticket& ticket) const {
        return waiting_ == 0 || waiting_ + ticket.weight <= limits_.queue_max;
    }

    void work() {
        std::vector<Ticket> batch;
        std::vector<Request> requests;
        while (take(batch)) {
            drop_expired(batch);
            requests.clear();
            for (Ticket& ticket : batch) {
                requests.push_back(std::move(ticket.request));
            }
            if (!requests.empty()) {
                std::vector<Reply> replies = run_(std::span{requests});
                for (std::size_t i = 0; i < batch.size(); ++i) {
                    batch[i].complete(std::move(replies[i]));
                }
            }
            batch.clear();
        }
    }

    // Waits for work and takes a batch of it. False when there will be none any more.
    bool take(std::vector<Ticket>& batch) {
        std::unique_lock lock{mutex_};
        ++idle_;
        work_arrived_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        --idle_;
        std::size_t weight = 0;
        while (!queue_.empty() && (batch.empty() || weight + queue_.front().weight <= limits_.batch_max)) {
            weight += queue_.front().weight;
            batch.push_back(std::move(queue_.front()));
            queue_.pop_front();
        }
        waiting_ -= weight;
        while (!parked_.empty() && has_half_room(parked_.front())) {
            waiting_ += parked_.front().weight;
            queue_.push_back(std::move(parked_.front()));
            parked_.pop_front();
        }
        return !batch.empty();
    }

    static void drop_expired(std::vector<Ticket>& batch) {
        const SteadyTime now = std::chrono::steady_clock::now();
        std::erase_if(batch, [now](Ticket& ticket) {
            if (ticket.deadline >= now) {
                return false;
            }
            ticket.complete(Unexpected{Refusal::Expired});
            return true;
        });
    }

    const CombinerLimits limits_;
    const Run run_;
    mutable std::mutex mutex_;
    std::condition_variable work_arrived_;
    std::deque<Ticket> queue_;  // Guarded by mutex_.
    std::deque<Ticket>
        parked_;  // Guarded by mutex_. Those that wait for room; not empty only while queue_ is full.
    std::size_t waiting_ = 0;  // Guarded by mutex_. The weight of queue_.
    std::size_t idle_ = 0;     // Guarded by mutex_. Workers that wait.
    bool stopping_ = false;    // Guarded by mutex_.
    std::mutex join_mutex_;
    std::vector<std::jthread>
        workers_;  // Guarded by join_mutex_ once constructed. Last: they use all the rest.
};

}  // namespace sluice
