#include "carry/webhook/webhook_carrier.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>

#include "carry/webhook/address_rules.hpp"
#include "carry/webhook/endpoint_book.hpp"
#include "carry/webhook/outcome.hpp"
#include "carry/webhook/signature.hpp"
#include "net/http_client.hpp"
#include "net/tls_client.hpp"

namespace sluice {
namespace webhook {
namespace {

namespace asio = boost::asio;
using BookRef = std::shared_ptr<const EndpointBook>;  // Shared with the calls that use it.

constexpr std::string_view kComponent = "Webhook";
constexpr std::size_t kAnswerMax = std::size_t{64} << 10U;
constexpr std::size_t kIdleMax =
    64;  // As many as may be under way to an endpoint, unless it is told otherwise.
constexpr std::size_t kIdleMaxOfAll = 1024;
constexpr std::size_t kLookupsMax = 8;

std::optional<std::string> refusal(const AddressRules& rules, const asio::ip::address& address) {
    // The text of IPv6 may have a zone behind it.
    const std::string text = address.to_string();
    const auto parsed = IpAddress::parse(std::string_view{text}.substr(0, text.find('%')));
    return parsed ? rules.refusal(*parsed) : "is of no kind that is known";
}

Result<net::HttpClientOptions, std::string> client_options(const WebhookOptions& options,
                                                           const AddressRules& rules) {
    net::HttpClientOptions made;
    auto tls = net::open_tls_client({.authorities = options.authorities});
    if (!tls) {
        return Unexpected{std::move(tls).error()};
    }
    made.tls = *std::move(tls);
    made.user_agent = options.user_agent;
    made.body_max = kAnswerMax;
    made.cut_bodies = true;
    made.lookups_max = kLookupsMax;
    made.idle_max = kIdleMax;
    made.idle_max_of_all = kIdleMaxOfAll;
    made.check_address = [rules](const asio::ip::address& address) { return refusal(rules, address); };
    return made;
}

bool is_visible(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char letter) { return letter > 0x20 && letter < 0x7F; });
}

net::HttpRequest request_for(const Parcel& parcel, const WebhookUrl& url, const CallSettings& settings,
                             Instant now) {
    net::HttpRequest request{"POST", url.request_target(), parcel.order.payload};
    if (!request.body.empty()) {
        request.headers.emplace_back("Content-Type", "application/json");
    }
    request.headers.insert(request.headers.end(), settings.headers.begin(), settings.headers.end());
    request.headers.emplace_back("Idempotency-Key", idempotency_key(parcel.event_id));
    if (!parcel.order.traceparent.empty() && is_visible(parcel.order.traceparent)) {
        request.headers.emplace_back("traceparent", parcel.order.traceparent);
    }
    if (!settings.keys.empty()) {
        const std::string id = webhook_id(parcel.event_id);
        const std::string timestamp =
            std::to_string(std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count());
        request.headers.emplace_back("webhook-id", id);
        request.headers.emplace_back("webhook-timestamp", timestamp);
        request.headers.emplace_back("webhook-signature",
                                     webhook_signature(settings.keys, id, timestamp, request.body));
    }
    return request;
}

class HttpWebhookCarrier final : public WebhookCarrier {
public:
    struct Parts {
        WebhookOptions options;
        AddressRules rules;
        BookRef book;
        net::HttpClientOptions client;
    };

    HttpWebhookCarrier(Parts parts, Log& log, const Clock& clock)
        : options_{std::move(parts.options)},
          rules_{std::move(parts.rules)},
          log_{log},
          clock_{clock},
          book_{std::move(parts.book)},
          client_{std::move(parts.client)},
          runner_{[this] { io_.run(); }} {}

    ~HttpWebhookCarrier() override { HttpWebhookCarrier::stop(); }

    [[nodiscard]] Result<Route, TargetFault> route(const Target& target) const override {
        const auto url = parse_webhook_url(target.address);
        if (!url) {
            return Unexpected{url.error()};
        }
        if (const auto reason = url->address ? rules_.refusal(*url->address) : std::nullopt) {
            return Unexpected{
                TargetFault{kForbiddenAddress, "The address " + url->host + " " + *reason + "."}};
        }
        return Route{url->host, url->endpoint()};
    }

    [[nodiscard]] CallTerms terms(const Target& target) const override {
        const auto url = parse_webhook_url(target.address);
        return url ? book()->find(*url).terms : CallTerms{};
    }

    void send(Parcel parcel, MayWrite may_write, Done done) override {
        const auto url = parse_webhook_url(parcel.order.target.address);
        if (!url) {
            done({.kind = Delivery::Kind::Refused, .error = url.error().detail});
            return;
        }
        if (!begin()) {
            done({.kind = Delivery::Kind::NotSent, .error = "No webhooks are sent any more."});
            return;
        }
        const BookRef book = this->book();
        const CallSettings& settings = book->find(*url);
        net::ServerUrl server{{url->host, url->port}, url->tls};
        net::HttpRequest request = request_for(parcel, *url, settings, clock_.now());
        // Shared, because a std::function can be copied, and this cannot.
        request.may_write = [this, asked = std::make_shared<MayWrite>(std::move(may_write))] {
            return !stopping_.load(std::memory_order_relaxed) && (*asked)();
        };
        auto call = carry(std::move(server), std::move(request), settings.terms.timeout);
        asio::co_spawn(
            io_, std::move(call),
            [this, told = std::move(done)](const std::exception_ptr& thrown, Delivery delivery) mutable {
                told(thrown ? broken(thrown) : std::move(delivery));
                end();
            });
    }

    void stop() override {
        {
            std::unique_lock lock{mutex_};
            stopping_.store(true, std::memory_order_relaxed);
            changed_.wait(lock, [this] { return under_way_ == 0; });
        }
        const std::lock_guard lock{joining_};
        io_.stop();
        runner_ = {};
    }

    Result<void, std::string> reload() override {
        auto read = EndpointBook::read(options_);
        if (!read) {
            return Unexpected{std::move(read).error()};
        }
        const auto fresh = std::make_shared<const EndpointBook>(*std::move(read));
        const std::lock_guard lock{mutex_};
        book_ = fresh;
        return {};
    }

private:
    [[nodiscard]] BookRef book() const {
        const std::lock_guard lock{mutex_};
        return book_;
    }

    // False: nothing begins any more.
    bool begin() {
        const std::lock_guard lock{mutex_};
        if (stopping_.load(std::memory_order_relaxed)) {
            return false;
        }
        ++under_way_;
        return true;
    }

    void end() {
        const std::lock_guard lock{mutex_};
        --under_way_;
        changed_.notify_all();
    }

    asio::awaitable<Delivery> carry(net::ServerUrl server, net::HttpRequest request, Duration timeout) {
        const net::HttpOutcome outcome =
            co_await client_.send(std::move(server), std::move(request), timeout);
        co_return delivery_of(outcome, clock_.now());
    }

    // Only what nobody foresees ends here, for example that there is no memory.
    Delivery broken(const std::exception_ptr& thrown) {
        std::string what = "unknown";
        try {
            std::rethrow_exception(thrown);
        } catch (const std::exception& failure) {
            what = failure.what();
        } catch (...) {
        }
        log_.write(LogLevel::Error, kComponent, "A call ended in an exception: " + what);
        return {.kind = Delivery::Kind::Failed, .error = "The call ended in an exception (" + what + ")."};
    }

    const WebhookOptions options_;
    const AddressRules rules_;
    Log& log_;
    const Clock& clock_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    BookRef book_;               // Guarded by mutex_.
    std::size_t under_way_ = 0;  // Guarded by mutex_.
    // Set with mutex_ held, so that nothing begins afterwards. Relaxed where it is read without: a call that
    // sees it too late was under way already, and is waited for.
    std::atomic<bool> stopping_ = false;
    asio::io_context io_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
    net::HttpClient client_;  // After io_, where its connections live. Touched by runner_ alone.
    std::mutex joining_;
    std::jthread runner_;  // Guarded by joining_ once it runs.
};

}  // namespace
}  // namespace webhook

Result<std::unique_ptr<WebhookCarrier>, std::string> open_webhook_carrier(WebhookOptions options, Log& log,
                                                                          const Clock& clock) {
    auto rules = webhook::AddressRules::make(options.allow, options.allow_loopback);
    if (!rules) {
        return Unexpected{std::move(rules).error()};
    }
    auto book = webhook::EndpointBook::read(options);
    if (!book) {
        return Unexpected{std::move(book).error()};
    }
    auto client = webhook::client_options(options, *rules);
    if (!client) {
        return Unexpected{std::move(client).error()};
    }
    webhook::HttpWebhookCarrier::Parts parts{std::move(options), *std::move(rules),
                                             std::make_shared<const webhook::EndpointBook>(*std::move(book)),
                                             *std::move(client)};
    return std::unique_ptr<WebhookCarrier>{
        std::make_unique<webhook::HttpWebhookCarrier>(std::move(parts), log, clock)};
}

}  // namespace sluice
