#include "stream/kafka/producer.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "stream/kafka/handle_internal.hpp"
#include "stream/kafka/link_watch.hpp"

namespace sluice::kafka {
namespace {

using std::chrono::steady_clock;

// Between two replacements, however often they fail.
constexpr std::chrono::seconds kReplacePause{1};
// How often those are looked at that were replaced, while there are any.
constexpr std::chrono::milliseconds kRetiredLook{50};
constexpr std::size_t kRetiredMax = 3;

// How many messages have no outcome yet.
// Thread safety: all of it.
class PendingCount {
public:
    void add() {
        const std::lock_guard lock{mutex_};
        ++count_;
    }
    void remove() {
        const std::lock_guard lock{mutex_};
        if (--count_ == 0) {
            none_.notify_all();
        }
    }
    void wait_for_none() {
        std::unique_lock lock{mutex_};
        none_.wait(lock, [this] { return count_ == 0; });
    }
    // False: some are left.
    bool wait_for_none(Duration most) {
        std::unique_lock lock{mutex_};
        return none_.wait_for(lock, most, [this] { return count_ == 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable none_;
    std::size_t count_ = 0;  // Guarded by mutex_.
};

// Of a producer that was replaced only the outcomes count, and for nobody but who waits for them.
class OnlyReports final : public HandleListener {
public:
    using Settle = std::function<void(Producer::Done, Report)>;
    explicit OnlyReports(Settle settle) : settle_{std::move(settle)} {}

    void reported(Producer::Done done, Report report) override {
        settle_(std::move(done), std::move(report));
    }
    void broker_trouble(std::string /*reason*/) override {}
    void all_brokers_down() override {}
    void brokers_counted(std::size_t /*connected*/) override {}
    void failed(const std::string& /*reason*/) override {}
    void told(const std::string& /*line*/) override {}

private:
    const Settle settle_;
};

class KafkaProducer final : public Producer, private HandleListener {
public:
    KafkaProducer(ProducerOptions options, ClientWorld world, std::unique_ptr<Handle> handle)
        : options_{std::move(options)},
          world_{world},
          link_{{options_.access.brokers, options_.purpose}, world},
          wake_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)},
          current_{std::move(handle)},
          thread_{[this](const std::stop_token& stop) { run(stop); }} {}

    ~KafkaProducer() override {
        finish();
        ::close(wake_);
    }
    KafkaProducer(const KafkaProducer&) = delete;
    KafkaProducer& operator=(const KafkaProducer&) = delete;

    void publish(Message message, Done done) override {
        pending_.add();
        std::optional<Report> refused;
        {
            const std::shared_lock lock{guard_};
            refused = stopping_ ? Report{Outcome::NotPersisted, "the Kafka producer is stopping", true}
                                : current_->produce(message, done);
        }
        if (refused) {
            done(std::move(*refused));
            pending_.remove();
        }
    }

    [[nodiscard]] LinkState state() const override { return link_.state(); }

    void stop() override { finish(); }

private:
    struct Retired {
        std::unique_ptr<Handle> handle;
        steady_clock::time_point at;
    };

    void finish() {
        std::call_once(finished_, [this] {
            {
                const std::unique_lock lock{guard_};
                stopping_ = true;
            }
            if (!pending_.wait_for_none(options_.publish_timeout + kReportSlack)) {
                give_up_.store(true);
                wake();
                pending_.wait_for_none();
            }
            thread_.request_stop();
            wake();
            thread_.join();
            retired_.clear();
            current_.reset();
        });
    }

    void wake() const {
        constexpr std::uint64_t kOne = 1;
        static_cast<void>(::write(wake_, &kOne, sizeof kOne));
    }

    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            wait();
            current_->serve(*this);
            serve_retired();
            if (replace_because_ && steady_clock::now() >= may_replace_at_) {
                replace();
            }
            if (give_up_.exchange(false)) {
                current_->give_up_all();
                std::for_each(retired_.begin(), retired_.end(),
                              [](const Retired& each) { each.handle->give_up_all(); });
            }
        }
    }

    // Until something happens. Nothing does in a producer that nobody uses, except its look at the brokers.
    void wait() const {
        std::vector<pollfd> signals{{wake_, POLLIN, 0}, {current_->signal(), POLLIN, 0}};
        for (const Retired& each : retired_) {
            signals.push_back({each.handle->signal(), POLLIN, 0});
        }
        const bool idle = retired_.empty() && !replace_because_;
        ::poll(signals.data(), signals.size(), idle ? -1 : static_cast<int>(kRetiredLook.count()));
        std::uint64_t count = 0;
        static_cast<void>(::read(wake_, &count, sizeof count));
    }

    void serve_retired() {
        OnlyReports reports{[this](Done done, Report report) { settle(std::move(done), std::move(report)); }};
        for (const Retired& each : retired_) {
            // What comes back unanswered would be sent again under a new number, and be doubled.
            each.handle->give_up_waiting();
            if (steady_clock::now() > each.at + options_.publish_timeout + kReportSlack) {
                each.handle->give_up_all();
            }
            each.handle->serve(reports);
        }
        std::erase_if(retired_, [](const Retired& each) { return each.handle->is_empty(); });
    }

    void replace() {
        may_replace_at_ = steady_clock::now() + kReplacePause;
        auto fresh = Handle::open(options_);
        if (!fresh) {  // Out of threads or the like.
            world_.log.write(LogLevel::Warn, kLogComponent,
                             "no new producer could be made: " + fresh.error());
            return;
        }
        world_.log.write(LogLevel::Warn, kLogComponent, "the producer is replaced: " + *replace_because_);
        replace_because_.reset();
        if (retired_.size() >= kRetiredMax) {
            retired_.front().handle->give_up_all();
        }
        std::unique_ptr<Handle> old;
        {
            const std::unique_lock lock{guard_};
            old = std::exchange(current_, std::move(*fresh));
        }
        old->give_up_waiting();
        retired_.push_back({std::move(old), steady_clock::now()});
    }

    void reported(Done done, Report report) override {
        if (report.outcome == Outcome::Delivered) {
            link_.answered();
        } else if (report.outcome == Outcome::Unknown && !replace_because_) {
            // From here on librdkafka 2.0 may fail for good, or number messages anew that were sent before.
            replace_because_ = "the outcome of a message is unknown: " + report.reason;
        }
        settle(std::move(done), std::move(report));
    }
    void settle(Done done, Report report) {
        done(std::move(report));
        pending_.remove();
    }
    void broker_trouble(std::string reason) override { link_.trouble(std::move(reason)); }
    void all_brokers_down() override { link_.all_down(); }
    void brokers_counted(std::size_t connected) override {
        if (!replace_because_) {  // What one that goes can reach is of no use.
            link_.counted(connected);
        }
    }
    void failed(const std::string& reason) override {
        replace_because_ = reason;
        link_.trouble("the producer failed: " + reason);
        link_.all_down();
    }
    void told(const std::string& line) override { world_.log.write(LogLevel::Debug, kLogComponent, line); }

    const ProducerOptions options_;
    const ClientWorld world_;
    LinkWatch link_;
    const int wake_;  // An eventfd.
    PendingCount pending_;
    std::once_flag finished_;
    std::atomic<bool> give_up_ = false;
    mutable std::shared_mutex guard_;
    bool stopping_ = false;            // Guarded by guard_.
    std::unique_ptr<Handle> current_;  // Guarded by guard_; only the thread changes it, and reads it without.
    std::vector<Retired> retired_;     // The thread's, like all below.
    std::optional<std::string> replace_because_;
    steady_clock::time_point may_replace_at_{};
    std::jthread thread_;  // Last: it uses all the rest.
};

}  // namespace

Result<std::unique_ptr<Producer>, std::string> make_producer(ProducerOptions options, ClientWorld world) {
    auto handle = Handle::open(options);
    if (!handle) {
        return Unexpected{handle.error()};
    }
    return std::unique_ptr<Producer>{
        std::make_unique<KafkaProducer>(std::move(options), world, std::move(*handle))};
}

}  // namespace sluice::kafka
