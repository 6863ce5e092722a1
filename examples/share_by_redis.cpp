// Shares a limit by Redis: two repositories, as two processes would have them, count as one.
// Usage: share_by_redis ADDRESS KEY, for example share_by_redis redis://127.0.0.1:6379 customer-7
#include <cstdio>

#include <sluice/rate_limiter.hpp>
#include <sluice/repositories.hpp>

namespace {

void show(const char* who, const sluice::RateLimitResult& result) {
    if (result.allowed) {
        std::printf("%s: allowed, %lld left\n", who, static_cast<long long>(result.remaining));
    } else {
        const auto seconds = std::chrono::ceil<std::chrono::seconds>(result.wait);
        std::printf("%s: denied by %s, again in %lld s\n", who, result.plan.c_str(),
                    static_cast<long long>(seconds.count()));
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s ADDRESS KEY\n", argv[0]);
        return 2;
    }
    // Longer than a service would wait: this program rather waits than goes on without an answer.
    const sluice::RedisRepositoryOptions options{.address = argv[1], .timeout = std::chrono::seconds{10}};
    const auto one = sluice::open_redis_repository(options);
    const auto other = sluice::open_redis_repository(options);
    if (!one || !other) {
        std::fprintf(stderr, "%s\n", (one ? other : one).error().c_str());
        return 1;
    }
    sluice::InMemoryPlanRegistry plans;
    if (!plans.put({.name = "orders", .capacity = 3, .refill = "1/h", .on_store_failure = "closed"})) {
        return 1;
    }
    const auto first = sluice::make_rate_limiter(plans, **one);
    const auto second = sluice::make_rate_limiter(plans, **other);

    const char* const key = argv[2];
    show("first", first->allow(key, {"orders"}, 2));
    show("second", second->allow(key, {"orders"}));
    show("first", first->allow(key, {"orders"}));
    // The order was not placed after all.
    if (const auto refunded = second->refund(key, {"orders"}); !refunded) {
        std::fprintf(stderr, "%s\n", refunded.error().what.c_str());
        return 1;
    }
    show("first", first->allow(key, {"orders"}));
    return 0;
}
