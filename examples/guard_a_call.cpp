// Guards a call by two plans: five at once and one more each second, but at most seven an hour.
#include <cstdio>

#include <sluice/key_resolver.hpp>
#include <sluice/rate_limiter.hpp>
#include <sluice/repositories.hpp>

namespace {

// What a server would make of its own request type.
class Request final : public sluice::RequestSource {
public:
    [[nodiscard]] std::optional<std::string> header(std::string_view name) const override {
        return name == "X-API-KEY" ? std::optional<std::string>{"customer-7"} : std::nullopt;
    }
    [[nodiscard]] std::optional<std::string> principal() const override { return std::nullopt; }
};

}  // namespace

int main() {
    sluice::InMemoryPlanRegistry plans;
    const bool known =
        plans.put({.name = "burst", .capacity = 5, .refill = "1/s"}) &&
        plans.put({.name = "hourly", .algorithm = "fixed_window", .capacity = 7, .window = "PT1H"});
    if (!known) {
        return 1;
    }
    const auto repository = sluice::make_memory_repository();
    const auto limiter = sluice::make_rate_limiter(plans, *repository);
    const auto key = sluice::HeaderKeyResolver{"X-API-KEY"}.resolve(Request{});

    int served = 0;
    for (int i = 0; i < 10; ++i) {
        const auto answer = sluice::limited(*limiter, *key, {"burst", "hourly"}, 1, [&] { return ++served; });
        if (answer) {
            std::printf("served %d\n", *answer);
        } else {
            const sluice::RateLimitResult& denied = answer.error().result;
            std::printf("denied by %s, again in %lld us\n", denied.plan.c_str(),
                        static_cast<long long>(denied.wait.count()));
        }
    }
    return served == 5 ? 0 : 1;
}
