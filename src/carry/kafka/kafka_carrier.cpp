#include "carry/kafka/kafka_carrier.hpp"

#include <condition_variable>
#include <mutex>

#include "stream/kafka/topic_name.hpp"

namespace sluice {
namespace {

Delivery delivery_of(kafka::Report report) {
    switch (report.outcome) {
        case kafka::Outcome::Delivered: return {.kind = Delivery::Kind::Done};
        case kafka::Outcome::NotPersisted:
            return {.kind = report.retry_may_help ? Delivery::Kind::Failed : Delivery::Kind::Refused,
                    .error = std::move(report.reason)};
        case kafka::Outcome::Unknown: break;
    }
    return {.kind = Delivery::Kind::Failed, .error = report.reason + "; it may be on the topic nevertheless"};
}

kafka::Message message_of(Parcel parcel) {
    const auto id = parcel.event_id.text();
    kafka::Message message{.topic = std::move(parcel.order.target.address),
                           .key = std::string{id},
                           .value = std::move(parcel.order.payload),
                           .headers = {{"idempotency-key", std::string{id}}}};
    if (!parcel.order.traceparent.empty()) {
        message.headers.emplace_back("traceparent", std::move(parcel.order.traceparent));
    }
    return message;
}

class KafkaCarrier final : public Carrier {
public:
    KafkaCarrier(KafkaCarrierOptions options, kafka::Producer& producer)
        : options_{options}, producer_{producer} {}
    ~KafkaCarrier() override { wait_for_all(); }
    KafkaCarrier(const KafkaCarrier&) = delete;
    KafkaCarrier& operator=(const KafkaCarrier&) = delete;

    [[nodiscard]] Result<Route, TargetFault> route(const Target& target) const override {
        if (const auto fault = kafka::topic_name_fault(target.address)) {
            return Unexpected{TargetFault{"invalid_target", *fault}};
        }
        return Route{.endpoint = "kafka://" + target.address};
    }

    [[nodiscard]] CallTerms terms(const Target& /*target*/) const override {
        return {options_.publish_timeout + kafka::kReportSlack, options_.concurrent_max};
    }

    void send(Parcel parcel, MayWrite may_write, Done done) override {
        if (!begin()) {
            done({.kind = Delivery::Kind::NotSent, .error = "The carrier has stopped."});
            return;
        }
        const auto state = producer_.state();
        if (!state.up && state.ever_up) {
            end(done, {.kind = Delivery::Kind::Failed, .error = state.reason});
        } else if (!may_write()) {
            end(done, {.kind = Delivery::Kind::NotSent});
        } else {
            producer_.publish(message_of(std::move(parcel)),
                              [this, done = std::move(done)](kafka::Report report) mutable {
                                  end(done, delivery_of(std::move(report)));
                              });
        }
    }

    void stop() override {
        {
            const std::lock_guard lock{mutex_};
            stopped_ = true;
        }
        wait_for_all();
    }

private:
    bool begin() {
        const std::lock_guard lock{mutex_};
        under_way_ += stopped_ ? 0 : 1;
        return !stopped_;
    }

    void end(Done& done, Delivery delivery) {
        done(std::move(delivery));
        const std::lock_guard lock{mutex_};
        if (--under_way_ == 0) {
            none_.notify_all();
        }
    }

    void wait_for_all() {
        std::unique_lock lock{mutex_};
        none_.wait(lock, [this] { return under_way_ == 0; });
    }

    const KafkaCarrierOptions options_;
    kafka::Producer& producer_;
    std::mutex mutex_;
    std::condition_variable none_;
    std::size_t under_way_ = 0;  // Guarded by mutex_, like the next.
    bool stopped_ = false;
};

}  // namespace

std::unique_ptr<Carrier> make_kafka_carrier(KafkaCarrierOptions options, kafka::Producer& producer) {
    return std::make_unique<KafkaCarrier>(options, producer);
}

}  // namespace sluice
