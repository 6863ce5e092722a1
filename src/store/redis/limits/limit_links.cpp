#include "store/redis/limits/limit_links.hpp"

#include <algorithm>

namespace sluice::redis {
namespace {

// What the script says when it changed nothing.
constexpr std::int64_t kTooExpensive = -1;

}  // namespace

std::optional<LimitFault> add_links(const Check& check, Links& links) {
    if (check.key.empty() || check.key.size() > kLimitKeyBytesMax) {
        return LimitFault::InvalidKey;
    }
    if (check.plans.empty() || links.size() + check.plans.size() > kPlansPerCheckMax) {
        return LimitFault::InvalidPlans;
    }
    if (check.cost < 0) {
        return LimitFault::InvalidCost;
    }
    for (const Plan* plan : check.plans) {
        const bool twice = std::any_of(links.begin(), links.end(), [&](const Link& link) {
            return link.key == check.key && link.plan->name() == plan->name();
        });
        if (twice) {
            return LimitFault::InvalidPlans;
        }
        links.push_back({check.key, plan, check.cost});
    }
    return std::nullopt;
}

std::optional<LimitFault> fault_in(const std::optional<Reply>& reply, std::size_t size) {
    if (!reply || reply->size() < 1) {
        return LimitFault::Unavailable;
    }
    if (reply->at(0).integer() == kTooExpensive) {
        return LimitFault::InvalidCost;
    }
    return reply->size() == size ? std::nullopt : std::optional{LimitFault::Unavailable};
}

CheckOutcome verdict_in(const std::optional<Reply>& reply) {
    if (const auto fault = fault_in(reply, 7)) {
        return Unexpected{*fault};
    }
    const std::int64_t code = reply->at(0).integer();
    return Verdict{code != 0,
                   code == 2,
                   static_cast<std::uint32_t>(reply->at(1).integer()),
                   reply->at(2).integer(),
                   reply->at(3).integer(),
                   Wait{reply->at(4).integer()},
                   Wait{reply->at(5).integer()},
                   LeaseId{static_cast<std::uint64_t>(reply->at(6).integer())}};
}

}  // namespace sluice::redis
