#include "main/gateway_tallies.hpp"

#include "main/metric_families.hpp"

namespace sluice {
namespace {

constexpr std::array<const char*, kSendOutcomes> kOutcomeNames{"accepted",   "unknown_user",   "limited",
                                                               "store_down", "publisher_down", "overloaded"};

}  // namespace

void GatewayTallies::collect(MetricFamilies& families) const {
    prometheus::MetricFamily sends{"sluice_gateway_sends_total",
                                   "Sends that were answered, by how.",
                                   prometheus::MetricType::Counter,
                                   {}};
    for (std::size_t i = 0; i < sends_.size(); ++i) {
        prometheus::ClientMetric metric;
        metric.label = {{"outcome", kOutcomeNames[i]}};
        metric.counter.value = static_cast<double>(sends_[i].load(std::memory_order_relaxed));
        sends.metric.push_back(std::move(metric));
    }
    families.push_back(std::move(sends));
    constexpr double kMicrosecond = 1e-6;
    add_histogram(families, {"sluice_gateway_batch_messages", "Messages that one call of the store served."},
                  batches_, 1);
    add_histogram(families,
                  {"sluice_gateway_handover_seconds",
                   "From a send to the moment at which its message was safe with the sender."},
                  handing_over_, kMicrosecond);
    add_counter(families, {"sluice_gateway_sent_total", "Messages that the built-in sender has sent."},
                sent_);
    add_counter(families, {"sluice_gateway_expired_total", "Messages that were too old to be sent."},
                expired_);
    add_counter(families,
                {"sluice_gateway_sender_failures_total",
                 "Times that the built-in sender could not read, send or close messages."},
                sender_failures_);
}

}  // namespace sluice
