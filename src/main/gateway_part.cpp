#include "main/gateway_part.hpp"

#include <random>

#include <prometheus/metric_family.h>

#include "app/gateway/gateway_service.hpp"
#include "app/gateway/outbox_sender.hpp"
#include "base/hex.hpp"
#include "door/http/gateway_desk.hpp"
#include "main/gateway_kafka.hpp"
#include "main/gateway_store_choice.hpp"
#include "main/gateway_tallies.hpp"
#include "main/message_lines.hpp"

namespace sluice {
namespace {

// From the kernel: whoever knows the name of a message may ask what became of it.
MessageId draw_message_id() {
    std::random_device device;
    std::string text = "msg-";
    constexpr unsigned kDigits = 8;
    for (int word = 0; word < 4; ++word) {
        append_hex(text, device(), kDigits);
    }
    return *MessageId::make(text);
}

// What the settings name and the gateway does not use is said, so that nobody believes otherwise.
std::string describe(const Settings& settings) {
    const std::string way = settings.kafka.brokers.empty() ? "gateway on" : "gateway over Kafka";
    return settings.redis.address.empty() ? way : way + " without Redis";
}

// Null where the settings name no brokers.
Result<std::unique_ptr<GatewayKafka>, std::string> open_kafka(const PartWorld& world) {
    const Settings& settings = world.settings;
    if (settings.kafka.brokers.empty()) {
        return std::unique_ptr<GatewayKafka>{};
    }
    return GatewayKafka::open(settings, make_message_lines(settings.log_format, world.clock),
                              {world.clock, world.log, world.runtime});
}

class GatewayPart final : public Part {
public:
    // `kafka` is null where the store hands over by itself.
    GatewayPart(const PartWorld& world, ChosenGatewayStore chosen, std::unique_ptr<GatewayKafka> kafka)
        : kafka_{std::move(kafka)},
          store_{std::move(chosen.store)},
          lines_{make_message_lines(world.settings.log_format, world.clock)},
          sender_{{store_->outbox(), *lines_, tallies_, world.log, world.runtime, chosen.look_every},
                  std::random_device{}()},
          service_{{.workers = chosen.workers},
                   {*store_, kafka_ ? &kafka_->publisher() : nullptr, tallies_, world.log, world.runtime,
                    draw_message_id, [this] { sender_.nudge(); }}},
          desk_{service_, world.log},
          described_{describe(world.settings)} {}

    const http::Desk& desk() const override { return desk_; }
    http::AskedPart readiness() override {
        return {"gateway", [this](UniqueFunction<void(http::PartState)> done) {
                    service_.readiness([this, done = std::move(done)](bool ready) mutable {
                        const bool handed_over = !kafka_ || kafka_->available();
                        // Slots and limits may go on: that is for them to say.
                        done({true, !ready ? "unavailable" : handed_over ? "" : "kafka_unavailable"});
                    });
                }};
    }
    void collect(std::vector<prometheus::MetricFamily>& families) const override {
        tallies_.collect(families);
        if (kafka_) {
            kafka_->collect(families);
        }
    }
    std::string described() const override { return described_; }
    void stop() override {
        service_.stop();
        if (kafka_) {
            kafka_->stop();
        }
        sender_.stop();
    }

private:
    GatewayTallies tallies_;
    const std::unique_ptr<GatewayKafka> kafka_;
    const std::unique_ptr<GatewayStore> store_;
    const std::unique_ptr<MessageOutlet> lines_;
    OutboxSender sender_;  // With Kafka, of what was accepted without.
    GatewayService service_;
    http::GatewayDesk desk_;
    const std::string described_;
};

}  // namespace

Result<std::unique_ptr<Part>, std::string> open_gateway_part(const PartWorld& world) {
    auto chosen = choose_gateway_store(world);
    if (!chosen) {
        return Unexpected{chosen.error()};
    }
    auto kafka = open_kafka(world);
    if (!kafka) {
        return Unexpected{kafka.error()};
    }
    return std::unique_ptr<Part>{std::make_unique<GatewayPart>(world, *std::move(chosen), *std::move(kafka))};
}

}  // namespace sluice
