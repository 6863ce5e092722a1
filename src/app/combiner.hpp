#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "app/turn_queue.hpp"
#include "base/result.hpp"
#include "base/unique_function.hpp"

namespace sluice {

// Why a combiner did not run a request.
enum class Refusal {
    Overloaded,  // The queue was full.
    Expired,     // The deadline passed before its turn came.
    Stopped,     // The combiner is shutting down.
};

// Turns requests that arrive one by one into batches: a worker takes all that is waiting, up to batch_max,
// runs it at once, and completes each request. There is no timer: alone, a request runs at once; under load
// the batch grows while the one before it runs.
// It promises:
//   - the queue is bounded; whoever waits for room bounds itself by what it has under way;
//   - those that wait for room and those that do not take turns: neither keeps the other from being served;
//   - a request that was taken into a run is completed with that run's reply, never with Expired;
//   - one whose deadline passes before is completed then, as long as those before it expire no later;
//   - every submitted request is completed exactly once, from a thread of the combiner or from submit()
//   itself.
// Thread safety: submit() and stop() from any thread. Completions run on the combiner's threads and must not
// block.
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

    Combiner(CombinerLimits limits, Run run) : run_{std::move(run)}, queue_{limits} {
        for (std::size_t i = 0; i < limits.workers; ++i) {
            threads_.emplace_back([this] { work(); });
        }
        threads_.emplace_back([this] { watch(); });
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
        must_watch_.notify_all();
        const std::lock_guard lock{join_mutex_};
        threads_.clear();
    }

    // The weight that waits now and counts against the queue's bound.
    [[nodiscard]] std::size_t waiting_approx() const {
        const std::lock_guard lock{mutex_};
        return queue_.waiting();
    }

private:
    std::optional<Refusal> enqueue(Ticket& ticket) {
        bool wake = false;
        {
            const std::lock_guard lock{mutex_};
            if (stopping_) {
                return Refusal::Stopped;
            }
            if (!queue_.add(ticket)) {
                return Refusal::Overloaded;
            }
            wake = idle_ > 0;
            start_watching();
        }
        if (wake) {
            work_arrived_.notify_one();
        }
        return std::nullopt;
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
        queue_.take(batch);
        start_watching();
        if (!queue_.empty() && idle_ > 0) {
            work_arrived_.notify_one();
        }
        return !batch.empty();
    }

    // REQUIRES: mutex_ is held. What a worker takes at once needs no watching.
    void start_watching() {
        if (!is_watching_ && idle_ == 0 && queue_.first_deadline() != SteadyTime::max()) {
            is_watching_ = true;
            must_watch_.notify_one();
        }
    }

    // Completes those whose deadline has passed, also while every worker is busy.
    void watch() {
        std::unique_lock lock{mutex_};
        while (!stopping_) {
            const SteadyTime deadline = queue_.first_deadline();
            is_watching_ = deadline != SteadyTime::max();
            if (!is_watching_) {
                must_watch_.wait(lock, [this] { return stopping_ || is_watching_; });
            } else if (deadline >= std::chrono::steady_clock::now()) {
                must_watch_.wait_until(lock, deadline + kBeyond, [this] { return stopping_; });
            } else {
                Ticket late = queue_.take_first();
                lock.unlock();
                late.complete(Unexpected{Refusal::Expired});
                lock.lock();
            }
        }
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

    static constexpr std::chrono::milliseconds kBeyond{1};  // So that a deadline has passed, not just come.

    const Run run_;
    mutable std::mutex mutex_;
    std::condition_variable work_arrived_;
    std::condition_variable must_watch_;
    TurnQueue<Ticket> queue_;   // Guarded by mutex_.
    std::size_t idle_ = 0;      // Guarded by mutex_. Workers that wait.
    bool is_watching_ = false;  // Guarded by mutex_.
    bool stopping_ = false;     // Guarded by mutex_.
    std::mutex join_mutex_;
    std::vector<std::jthread>
        threads_;  // Guarded by join_mutex_ once constructed. Last: they use all the rest.
};

}  // namespace sluice
