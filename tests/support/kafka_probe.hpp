#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "stream/kafka/producer.hpp"
#include "support/recording_log.hpp"

namespace sluice::test {

// For tests that wait for the end of the time-out.
inline kafka::ProducerOptions impatient(const std::string& brokers) {
    return {.access = {.brokers = brokers, .properties = {{"linger.ms", "0"}}},
            .publish_timeout = Duration{1'500}};
}

// A producer, what it needs, and what it reported.
class KafkaProbe {
public:
    explicit KafkaProbe(kafka::ProducerOptions options) {
        auto made = kafka::make_producer(std::move(options), {clock_, log_});
        if (!made) {
            throw std::runtime_error{made.error()};
        }
        producer_ = std::move(*made);
    }
    ~KafkaProbe() { producer_.reset(); }  // First: it reports to the rest.
    KafkaProbe(const KafkaProbe&) = delete;
    KafkaProbe& operator=(const KafkaProbe&) = delete;

    kafka::Producer& producer() { return *producer_; }
    const RecordingLog& log() const { return log_; }

    // Which number its report will have.
    int publish(kafka::Message message) {
        int number = 0;
        {
            const std::lock_guard lock{mutex_};
            number = published_++;
        }
        producer_->publish(std::move(message), [this, number](kafka::Report report) {
            const std::lock_guard lock{mutex_};
            if (!reports_.emplace(number, std::move(report)).second) {
                ++repeated_;
            }
            changed_.notify_all();
        });
        return number;
    }

    kafka::Report report_of(int number) {
        std::unique_lock lock{mutex_};
        if (!changed_.wait_for(lock, kPatience, [&] { return reports_.contains(number); })) {
            throw std::runtime_error{"no report comes"};
        }
        return reports_.at(number);
    }

    kafka::Report outcome_of(kafka::Message message) { return report_of(publish(std::move(message))); }

    [[nodiscard]] std::size_t reported() const {
        const std::lock_guard lock{mutex_};
        return reports_.size();
    }
    // Messages that were reported more than once.
    [[nodiscard]] int repeated() const {
        const std::lock_guard lock{mutex_};
        return repeated_;
    }

    static constexpr std::chrono::seconds kPatience{20};

private:
    const SystemClock clock_;
    RecordingLog log_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    int published_ = 0;                     // Guarded by mutex_, like the next two.
    std::map<int, kafka::Report> reports_;  // By number.
    int repeated_ = 0;
    std::unique_ptr<kafka::Producer> producer_;
};

}  // namespace sluice::test
