#include "store/redis/limits/redis_examination.hpp"

#include <charconv>

#include "store/redis/client/greeting.hpp"

namespace sluice {
namespace {

using namespace redis;

Instant now() { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); }

// TIME answers with seconds and microseconds, as text.
std::optional<RedisClock> ask_time(Connection& connection, Deadline deadline) {
    const Instant asked = now();
    const auto reply = connection.ask(std::vector<std::string>{"TIME"}, deadline);
    const Instant answered = now();
    if (!reply || reply->is_error() || reply->size() != 2) {
        return std::nullopt;
    }
    std::int64_t seconds = 0;
    const std::string_view text = reply->at(0).text();
    if (std::from_chars(text.data(), text.data() + text.size(), seconds).ec != std::errc{}) {
        return std::nullopt;
    }
    std::int64_t micros = 0;
    const std::string_view rest = reply->at(1).text();
    std::from_chars(rest.data(), rest.data() + rest.size(), micros);
    const Instant told{std::chrono::seconds{seconds} + Duration{micros / 1'000}};
    return RedisClock{connection.endpoint().text(), told - (asked + (answered - asked) / 2)};
}

}  // namespace

Result<std::vector<RedisClock>, std::string> examine_redis(const RedisOptions& options) {
    if (const auto opened = open_redis_limit_store(options); !opened) {
        return Unexpected{opened.error()};
    }
    const auto address = parse_redis_address(options.address);
    std::vector<RedisClock> clocks;
    if (!address || address->deployment == Deployment::Sentinel) {
        return clocks;
    }
    const auto tls = address->tls ? make_tls_identity(options.tls_ca_file, options.tls_certificate_file,
                                                      options.tls_key_file)
                                  : Result<std::unique_ptr<TlsIdentity>, std::string>{nullptr};
    if (!tls) {
        return Unexpected{tls.error()};
    }
    const Greeting greeting{address->user, address->password, tls->get(), true, options.connect_timeout};
    for (const Endpoint& node : address->nodes) {
        const auto connection = greet(node, greeting, Wanted::Anything);
        if (!connection) {
            return Unexpected{connection.error()};
        }
        if (const auto clock =
                ask_time(**connection, std::chrono::steady_clock::now() + options.connect_timeout)) {
            clocks.push_back(*clock);
        }
    }
    return clocks;
}

}  // namespace sluice
