// webhook_sender URL SECRET_FILE...: sends a few webhooks with these secrets, one behind the other. Fails
// unless all are accepted.
#include <future>
#include <iostream>
#include <string>

#include "carry/webhook/webhook_carrier.hpp"
#include "files/text_file.hpp"

namespace sluice {
namespace {

class ErrorLog final : public Log {
public:
    [[nodiscard]] bool enabled(LogLevel level) const override { return level >= LogLevel::Warn; }
    void write(LogLevel /*level*/, std::string_view /*component*/, std::string_view message) override {
        std::cerr << message << '\n';
    }
};

int run(const std::string& url, std::vector<std::string> secret_files) {
    ErrorLog log;
    const SystemClock clock;
    WebhookOptions options;
    options.allow_loopback = true;
    options.secret_files = std::move(secret_files);
    options.read_file = &read_text_file;
    const auto carrier = open_webhook_carrier(options, log, clock);
    if (!carrier) {
        std::cerr << carrier.error() << '\n';
        return 1;
    }
    const std::vector<std::pair<const char*, const char*>> works = {
        {"order-1", R"({"amount": 1.50e2})"},
        {"order \"2\" 100%", "[\"\xC3\xA4\xE2\x82\xAC\"]"},
        {"\xC3\xB6rder/3", ""}};
    for (const auto& [event, payload] : works) {
        std::promise<Delivery> ended;
        Parcel parcel{*EventId::make(event), {.target = {TargetKind::Webhook, url}, .payload = payload}};
        (*carrier)->send(
            std::move(parcel), [] { return true; },
            [&ended](Delivery told) { ended.set_value(std::move(told)); });
        const Delivery delivery = ended.get_future().get();
        if (delivery.kind != Delivery::Kind::Done) {
            std::cerr << event << ": " << delivery.error << ' ' << delivery.excerpt << '\n';
            return 1;
        }
    }
    return 0;
}

}  // namespace
}  // namespace sluice

int main(int count, char** words) {
    const std::vector<std::string> all{words + 1, words + count};
    return all.empty() ? 2 : sluice::run(all.front(), {all.begin() + 1, all.end()});
}
