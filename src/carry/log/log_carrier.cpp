#include "carry/log/log_carrier.hpp"

#include <atomic>

#include "base/escaped_text.hpp"
#include "base/json_text.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "Dispatch";

std::string line_of(const Parcel& parcel) {
    const std::string& payload = parcel.order.payload;
    std::string line = "eventId=" + json_string(parcel.event_id.text()) + " payload=";
    if (append_escaped(line, payload, kLoggedPayloadMax) < payload.size()) {
        line += "... (" + std::to_string(payload.size()) + " bytes)";
    }
    return line;
}

class LogCarrier final : public Carrier {
public:
    explicit LogCarrier(Log& log) : log_{log} {}

    [[nodiscard]] Result<Route, TargetFault> route(const Target& /*target*/) const override {
        return Route{};
    }
    [[nodiscard]] CallTerms terms(const Target& /*target*/) const override { return {}; }

    void send(Parcel parcel, MayWrite may_write, Done done) override {
        if (stopped_.load(std::memory_order_relaxed) || !may_write()) {
            done({.kind = Delivery::Kind::NotSent, .error = "It must not be sent any more."});
            return;
        }
        log_.write(LogLevel::Info, kComponent, line_of(parcel));
        done({.kind = Delivery::Kind::Done});
    }

    // Nothing is ever under way: send() has called `done` when it returns.
    void stop() override { stopped_.store(true, std::memory_order_relaxed); }

private:
    Log& log_;
    std::atomic<bool> stopped_ = false;  // Relaxed: it guards nothing but itself.
};

}  // namespace

std::unique_ptr<Carrier> make_log_carrier(Log& log) { return std::make_unique<LogCarrier>(log); }

}  // namespace sluice
