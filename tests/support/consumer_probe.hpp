#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "stream/kafka/consumer.hpp"
#include "support/recording_log.hpp"

namespace sluice::test {

// A consumer, what it needs, and patience.
class ConsumerProbe {
public:
    explicit ConsumerProbe(kafka::ConsumerOptions options) {
        auto made = kafka::make_consumer(std::move(options), {clock_, log_});
        if (!made) {
            throw std::runtime_error{made.error()};
        }
        consumer_ = std::move(*made);
        consumer_->listen([this] {
            const std::lock_guard lock{mutex_};
            arrived_ = true;
            changed_.notify_all();
        });
    }
    ~ConsumerProbe() { consumer_.reset(); }  // First: it calls the rest.
    ConsumerProbe(const ConsumerProbe&) = delete;
    ConsumerProbe& operator=(const ConsumerProbe&) = delete;

    kafka::Consumer& consumer() { return *consumer_; }
    [[nodiscard]] const RecordingLog& log() const { return log_; }

    // Serves the consumer until it holds, and keeps what comes meanwhile.
    template <class Reached>
    bool serve_until(Reached reached, std::chrono::milliseconds patience = kPatience) {
        const auto deadline = std::chrono::steady_clock::now() + patience;
        while (!reached()) {
            auto some = consumer_->take(100);
            const bool nothing = some.empty();
            for (kafka::Record& record : some) {
                records.push_back(std::move(record));
            }
            std::unique_lock lock{mutex_};
            if (nothing && !changed_.wait_until(lock, deadline, [this] { return arrived_; })) {
                return false;
            }
            arrived_ = arrived_ && !nothing;
        }
        return true;
    }
    bool serve_until_there_are(std::size_t count) {
        return serve_until([&] { return records.size() >= count; });
    }

    std::vector<kafka::Record> records;

    static constexpr std::chrono::seconds kPatience{30};

private:
    const SystemClock clock_;
    RecordingLog log_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool arrived_ = false;  // Guarded by mutex_.
    std::unique_ptr<kafka::Consumer> consumer_;
};

}  // namespace sluice::test
