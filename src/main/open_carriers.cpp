#include "main/open_carriers.hpp"

#include <algorithm>

#include "carry/kafka/kafka_carrier.hpp"
#include "carry/log/log_carrier.hpp"
#include "files/text_file.hpp"

namespace sluice {
namespace {

WebhookOptions webhook_options(const Settings::Dispatch& settings, const net::HostPort& listener) {
    WebhookOptions options;
    options.secret_files = settings.secret_files;
    options.timeout = settings.webhook_timeout;
    options.allow = settings.allow;
    options.allow_loopback = net::is_loopback(listener);
    options.read_file = [](const std::string& path) { return read_text_file(path); };
    for (const EndpointSetting& setting : settings.endpoints) {
        EndpointSettings endpoint{.url_prefix = setting.url,
                                  .secret_files = setting.secret_files,
                                  .headers = setting.headers,
                                  .timeout = setting.timeout.value_or(settings.webhook_timeout),
                                  .proxy = setting.proxy};
        endpoint.max_concurrent = setting.max_concurrent.value_or(endpoint.max_concurrent);
        options.endpoints.push_back(std::move(endpoint));
    }
    return options;
}

}  // namespace

Result<OpenCarriers, std::string> open_carriers(const Settings& settings, const net::HostPort& listener,
                                                const CarrierWorld& world) {
    auto webhooks =
        open_webhook_carrier(webhook_options(settings.dispatch, listener), world.log, world.clock);
    if (!webhooks) {
        return Unexpected{webhooks.error()};
    }
    OpenCarriers opened;
    opened.webhooks = webhooks->get();
    opened.all.add(TargetKind::Webhook, std::move(*webhooks));
    opened.all.add(TargetKind::Log, make_log_carrier(world.log));
    if (!settings.kafka.brokers.empty()) {
        const Duration patience = settings.kafka.publish_timeout;
        auto producer =
            kafka::make_producer({.access = {.brokers = settings.kafka.brokers}, .publish_timeout = patience},
                                 {world.clock, world.log});
        if (!producer) {
            return Unexpected{producer.error()};
        }
        opened.kafka = std::move(*producer);
        opened.all.add(TargetKind::Kafka, make_kafka_carrier({.publish_timeout = patience}, *opened.kafka));
    }
    return opened;
}

bool names_files(const Settings::Dispatch& settings) {
    return !settings.secret_files.empty() ||
           std::any_of(settings.endpoints.begin(), settings.endpoints.end(), [](const EndpointSetting& one) {
               return !one.secret_files.empty() || !one.headers.empty();
           });
}

}  // namespace sluice
