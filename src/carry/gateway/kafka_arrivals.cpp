#include "carry/gateway/kafka_arrivals.hpp"

#include "carry/gateway/message_record.hpp"

namespace sluice {
namespace {

class KafkaArrivals final : public Arrivals {
public:
    KafkaArrivals(std::string topic, kafka::Consumer& consumer)
        : topic_{std::move(topic)}, consumer_{consumer} {}

    void listen(std::function<void()> arrived) override { consumer_.listen(std::move(arrived)); }

    std::vector<Arrival> take(std::size_t most) override {
        std::vector<Arrival> arrivals;
        for (const kafka::Record& record : consumer_.take(most)) {
            arrivals.push_back(arrival_of(record, topic_));
        }
        return arrivals;
    }

    void done(std::span<const Arrival> arrivals) override {
        std::vector<kafka::Record> records;
        records.reserve(arrivals.size());
        for (const Arrival& arrival : arrivals) {
            records.push_back({.partition = arrival.partition, .offset = arrival.offset});
        }
        consumer_.done(records);
    }

private:
    const std::string topic_;
    kafka::Consumer& consumer_;
};

}  // namespace

std::unique_ptr<Arrivals> make_kafka_arrivals(std::string topic, kafka::Consumer& consumer) {
    return std::make_unique<KafkaArrivals>(std::move(topic), consumer);
}

}  // namespace sluice
