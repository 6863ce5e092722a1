#include "main/doctor_redis.hpp"

#include "base/iso8601.hpp"
#include "main/settings_table.hpp"
#include "store/redis/limits/redis_examination.hpp"

namespace sluice {

void check_redis(const Settings::Redis& settings, Findings& findings) {
    RedisOptions options;
    options.address = settings.address;
    options.timeout = std::chrono::seconds{2};  // Slow is another matter than away.
    options.allow_eviction = settings.allow_eviction;
    options.tls_ca_file = settings.tls_ca;
    const auto clocks = examine_redis(options);
    if (!clocks) {
        findings.push_back(
            {"redis", false, clocks.error(),
             "Check the address, the password and the network; until it answers, limits follow "
             "each plan's on_store_failure."});
        return;
    }
    findings.push_back({"redis", true, "It can be used" + place_of(settings.address) + "."});
    constexpr Duration kMost{1'000};
    for (const RedisClock& clock : *clocks) {
        const Duration off = std::chrono::abs(clock.ahead);
        const std::string told = "The clock of " + clock.server + " is " + std::to_string(off.count()) +
                                 " ms " + (clock.ahead.count() < 0 ? "behind" : "ahead of") + " this one.";
        if (off <= kMost) {
            findings.push_back({"redis clock", true, told});
        } else {
            findings.push_back({"redis clock", false, told,
                                "Let NTP set both clocks: Redis decides by its own, so overrides with an end "
                                "begin and end by it."});
        }
    }
}

}  // namespace sluice
