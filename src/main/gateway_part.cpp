#include "main/gateway_part.hpp"

#include <random>

#include <prometheus/metric_family.h>

#include "app/gateway/gateway_service.hpp"
#include "app/gateway/outbox_sender.hpp"
#include "base/hex.hpp"
#include "door/http/gateway_desk.hpp"
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
    const bool redis = !settings.redis.address.empty();
    const bool kafka = !settings.kafka.brokers.empty();
    const std::string without = redis && kafka ? "Redis and Kafka" : redis ? "Redis" : kafka ? "Kafka" : "";
    return without.empty() ? "gateway on" : "gateway on without " + without;
}

class GatewayPart final : public Part {
public:
    GatewayPart(const PartWorld& world, ChosenGatewayStore chosen)
        : store_{std::move(chosen.store)},
          lines_{make_message_lines(world.settings.log_format, world.clock)},
          sender_{{store_->outbox(), *lines_, tallies_, world.log, world.runtime, chosen.look_every},
                  std::random_device{}()},
          service_{{.workers = chosen.workers},
                   {*store_, nullptr, tallies_, world.log, world.runtime, draw_message_id,
                    [this] { sender_.nudge(); }}},
          desk_{service_, world.log},
          described_{describe(world.settings)} {}

    const http::Desk& desk() const override { return desk_; }
    http::AskedPart readiness() override {
        return {"gateway", [this](UniqueFunction<void(http::PartState)> done) {
                    service_.readiness([done = std::move(done)](bool ready) mutable {
                        // Slots and limits may go on: that is for them to say.
                        done({true, ready ? "" : "unavailable"});
                    });
                }};
    }
    void collect(std::vector<prometheus::MetricFamily>& families) const override {
        tallies_.collect(families);
    }
    std::string described() const override { return described_; }
    void stop() override {
        service_.stop();
        sender_.stop();
    }

private:
    GatewayTallies tallies_;
    const std::unique_ptr<GatewayStore> store_;
    const std::unique_ptr<MessageOutlet> lines_;
    OutboxSender sender_;
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
    return std::unique_ptr<Part>{std::make_unique<GatewayPart>(world, *std::move(chosen))};
}

}  // namespace sluice
