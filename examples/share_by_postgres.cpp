// At most two exports of a customer run at a time, wherever they run: leases on PostgreSQL.
// Usage: share_by_postgres ADDRESS KEY, for example share_by_postgres postgres://me@127.0.0.1/shop customer-7
#include <cstdio>

#include <sluice/rate_limiter.hpp>
#include <sluice/repositories.hpp>

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s ADDRESS KEY\n", argv[0]);
        return 2;
    }
    const auto repository = sluice::open_postgres_repository({.dsn = argv[1]});
    if (!repository) {
        std::fprintf(stderr, "%s\n", repository.error().c_str());
        return 1;
    }
    sluice::InMemoryPlanRegistry plans;
    const auto known = plans.put({.name = "exports",
                                  .algorithm = "concurrency",
                                  .capacity = 2,
                                  .window = "PT10M",  // Should a process die, its place is free again then.
                                  .on_store_failure = "closed"});
    if (!known) {
        std::fprintf(stderr, "%s\n", known.error().c_str());
        return 1;
    }
    const auto limiter = sluice::make_rate_limiter(plans, **repository);

    const char* const key = argv[2];
    const auto first = limiter->allow(key, {"exports"});
    const auto second = limiter->allow(key, {"exports"});
    const auto third = limiter->allow(key, {"exports"});
    std::printf("three begin: %d %d %d\n", first.allowed, second.allowed, third.allowed);
    const auto released = limiter->release(key, "exports", first.lease);
    std::printf("the first ends: %s\n", released && *released ? "released" : "not held");
    std::printf("one more begins: %d\n", limiter->allow(key, {"exports"}).allowed);
    const auto standings = limiter->inspect(key, {"exports"});
    if (!standings) {
        std::fprintf(stderr, "%s\n", standings.error().what.c_str());
        return 1;
    }
    std::printf("places left: %lld of %lld\n", static_cast<long long>(standings->front().remaining),
                static_cast<long long>(standings->front().limit));
    return 0;
}
