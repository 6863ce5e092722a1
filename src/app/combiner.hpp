#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "app/batch_queue.hpp"
#include "base/result.hpp"
#include "base/runtime.hpp"
#include "base/unique_function.hpp"

namespace sluice {

// Why a combiner did not run a request.
enum class Refusal {
    Overloaded,  // The queue was full.
    Expired,     // The deadline came before its turn.
    Stopped,     // The combiner is shutting down.
};

// Turns requests that arrive one by one into batches: a worker takes all that is waiting, up to batch_max,
// runs it at once, and completes each request. Nothing is held back for a batch: alone, a request runs at
// once; under load the batch grows while the one before it runs. All rules of the queue are in BatchQueue;
// this is its lock, its workers and its timer.
// It promises:
//   - the queue is bounded; whoever waits for room bounds itself by what it has under way;
//   - those that wait for room and those that do not take turns: neither keeps the other from being served;
//   - a request that was taken into a run is completed with that run's reply, never with Expired;
//   - one whose deadline comes before is completed then, as long as those before it expire no later;
//   - every submitted request is completed exactly once, by a worker, by a timer of the runtime, or by
//     submit() itself.
// Thread safety: submit() and stop() from any thread. Completions must not block.
template <class Request, class Reply>
class Combiner {
public:
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

    // The runtime outlives the combiner.
    Combiner(Runtime& runtime, CombinerLimits limits, Run run)
        : clock_{runtime},
          workers_max_{limits.workers},
          run_{std::move(run)},
          queue_{limits},
          workers_{runtime.hire(limits.workers)},
          timer_{runtime.timer([this] { expire(); })} {}

    ~Combiner() { stop(); }
    Combiner(const Combiner&) = delete;
    Combiner& operator=(const Combiner&) = delete;

    void submit(Ticket ticket) {
        if (const auto refusal = enqueue(ticket)) {
            ticket.complete(Unexpected{*refusal});
        }
    }

    // Refuses what comes from now on, runs what is waiting, and returns when all of it is complete.
    void stop() {
        {
            const std::lock_guard lock{mutex_};
            stopping_ = true;
            ++called_;
        }
        // A last look: whoever has just put something into the queue may still be about to call a worker.
        post();
        workers_->finish();
        timer_->stop();
    }

    // The weight that waits now and counts against the queue's bound.
    [[nodiscard]] std::size_t waiting_approx() const {
        const std::lock_guard lock{mutex_};
        return queue_.waiting();
    }

private:
    std::optional<Refusal> enqueue(Ticket& ticket) {
        bool needs_worker = false;
        {
            const std::lock_guard lock{mutex_};
            if (stopping_) {
                return Refusal::Stopped;
            }
            if (!queue_.add(ticket)) {
                return Refusal::Overloaded;
            }
            needs_worker = call_worker();
        }
        if (needs_worker) {
            post();
        }
        return std::nullopt;
    }

    void post() {
        workers_->post([this] { serve(); });
    }

    // With mutex_ held, and something in the queue. True: the caller has to post a worker, which then looks
    // at the queue. False: all are busy, and look at it before they rest; only a deadline may come earlier.
    bool call_worker() {
        if (called_ + busy_ < workers_max_) {
            ++called_;
            return true;
        }
        if (!is_timer_set_ && queue_.first_deadline() != SteadyTime::max()) {
            is_timer_set_ = true;
            timer_->set(queue_.first_deadline());
        }
        return false;
    }

    // What a worker does: batch after batch, until nothing waits.
    void serve() {
        {
            const std::lock_guard lock{mutex_};
            --called_;
            ++busy_;
        }
        std::vector<Ticket> batch;
        std::vector<Ticket> late;
        std::vector<Request> requests;
        while (take(batch, late)) {
            complete_expired(late);
            for (Ticket& ticket : batch) {
                requests.push_back(std::move(ticket.request));
            }
            std::vector<Reply> replies = requests.empty() ? std::vector<Reply>{} : run_(std::span{requests});
            for (std::size_t i = 0; i < batch.size(); ++i) {
                batch[i].complete(std::move(replies[i]));
            }
            batch.clear();
            requests.clear();
        }
    }

    // False when nothing waits: this worker is busy no more.
    bool take(std::vector<Ticket>& batch, std::vector<Ticket>& late) {
        bool needs_another = false;
        {
            const std::lock_guard lock{mutex_};
            if (queue_.empty()) {
                --busy_;
                return false;
            }
            queue_.take(clock_.now(), batch, late);
            needs_another = !queue_.empty() && call_worker();
        }
        if (needs_another) {
            post();
        }
        return true;
    }

    // The timer's call: completes those whose deadline has come, also while every worker is busy. Some at a
    // time, because other timers wait meanwhile.
    void expire() {
        constexpr std::size_t kAtATime = 256;
        std::vector<Ticket> late;
        {
            const std::lock_guard lock{mutex_};
            const SteadyTime now = clock_.now();
            queue_.take_late(now, late, kAtATime);
            const SteadyTime next = queue_.first_deadline();
            is_timer_set_ = next != SteadyTime::max();
            timer_->set(is_timer_set_ ? std::max(next, now) : next);
        }
        complete_expired(late);
    }

    static void complete_expired(std::vector<Ticket>& late) {
        for (Ticket& ticket : late) {
            ticket.complete(Unexpected{Refusal::Expired});
        }
        late.clear();
    }

    const SteadyClock& clock_;
    const std::size_t workers_max_;
    const Run run_;
    mutable std::mutex mutex_;
    BatchQueue<Ticket> queue_;   // Guarded by mutex_, like the next four.
    std::size_t called_ = 0;     // Workers that were posted and have not begun.
    std::size_t busy_ = 0;       // Workers that will look at the queue again.
    bool is_timer_set_ = false;  // For the first deadline, or an earlier one.
    bool stopping_ = false;
    const std::unique_ptr<Workers> workers_;
    const std::unique_ptr<Timer> timer_;  // Last: they use all the rest.
};

}  // namespace sluice
