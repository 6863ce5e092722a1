#include "core/dispatch/retry_schedule.hpp"

#include <algorithm>

namespace sluice {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

RetrySchedule::RetrySchedule()
    : pauses_{seconds{5}, seconds{30}, minutes{2}, minutes{10}, hours{1}, hours{3}, hours{6}, hours{12}} {}

std::optional<Duration> RetrySchedule::pause_after(std::uint32_t failed, std::optional<Duration> asked,
                                                   Random& random) const {
    if (failed == 0 || failed > pauses_.size()) {
        return std::nullopt;
    }
    const Duration heeded = std::min(asked.value_or(Duration::zero()), kHeededMax);
    const Duration least = std::max(pauses_[failed - 1], heeded);
    const auto tenth = static_cast<std::uint64_t>(least.count()) / 10;
    return least + Duration{random.below(tenth + 1)};
}

}  // namespace sluice
