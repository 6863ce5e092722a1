// A limiter as a file describes it: plans, store, and what happens when the store does not answer.
// Usage: limiter_from_file FILE KEY, for example limiter_from_file limiter.yaml customer-7
#include <cstdio>

#include <sluice/open_limiter.hpp>

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s FILE KEY\n", argv[0]);
        return 2;
    }
    const auto limiter = sluice::open_limiter(argv[1]);
    if (!limiter) {
        std::fprintf(stderr, "%s\n", limiter.error().c_str());
        return 1;
    }
    const char* const key = argv[2];
    for (int i = 0; i < 3; ++i) {
        const auto result = (*limiter)->allow(key, {"burst", "daily"});
        std::printf("%s by %s\n", result.allowed ? "allowed" : "denied", result.plan.c_str());
    }
    // Five at once for the next hour, for this customer alone.
    sluice::RateLimitOverride more{.plan = "burst", .until = std::chrono::hours{1}};
    more.capacity = 5;
    if (const auto put = (*limiter)->put_override(key, more); !put) {
        std::fprintf(stderr, "%s\n", put.error().what.c_str());
        return 1;
    }
    std::printf("with an override: %lld left\n",
                static_cast<long long>((*limiter)->allow(key, {"burst", "daily"}).remaining));
    return 0;
}
