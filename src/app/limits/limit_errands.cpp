// How checks of a service go to the store and come back.
#include <algorithm>
#include <array>

#include "app/limits/errand.hpp"
#include "app/limits/limit_service.hpp"

namespace sluice {

void LimitService::submit(const ErrandPtr& errand) {
    if (is_direct()) {
        std::array<ErrandPtr, 1> alone{errand};
        conclude(*errand, std::move(run(alone).front()));
        return;
    }
    const auto due = deadlines_->add(errand);
    const auto completion = [errand](Result<Outcomes, Refusal> ran) {
        if (!ran && ran.error() == Refusal::Expired) {
            errand->expire();  // The lane may notice it before the deadlines do.
        } else if (errand->claim()) {
            conclude(*errand, ran ? StoreReply{*std::move(ran)} : StoreReply{Unexpected{StoreFailure::Late}});
        }
    };
    // By the same deadline: whom it has answered is not charged any more, unless it is on its way.
    lanes_[errand->lane]->submit({errand, completion, due, errand->checks.size(), WhenFull::Refuse});
}

void LimitService::conclude(Errand& errand, const StoreReply& reply) {
    // Whoever still watches the errand must not keep alive what its caller waits with.
    auto finish = std::move(errand.finish);
    finish(errand, reply);
}

LimitService::Outcomes LimitService::take_singles(std::span<const ErrandPtr> errands) {
    std::vector<Check> singles;
    for (const ErrandPtr& errand : errands) {
        if (errand->together) {
            continue;
        }
        for (const ResolvedCheck& check : errand->checks) {
            singles.push_back(check.to_check());
        }
    }
    Outcomes outcomes(singles.size(), Unexpected{LimitFault::Unavailable});
    if (!singles.empty()) {
        store().take(singles, outcomes);
    }
    return outcomes;
}

CheckOutcome LimitService::take_together(const Errand& errand) {
    std::vector<Check> all;
    for (const ResolvedCheck& check : errand.checks) {
        all.push_back(check.to_check());
    }
    return store().take_together(all);
}

std::vector<LimitService::Outcomes> LimitService::run(std::span<ErrandPtr> errands) {
    const auto began = world_.runtime.now();
    const Outcomes outcomes = take_singles(errands);
    std::size_t count = outcomes.size();
    auto next = outcomes.begin();
    std::vector<Outcomes> replies;
    for (const ErrandPtr& each : errands) {
        const Errand& errand = *each;
        const auto size = static_cast<std::ptrdiff_t>(errand.checks.size());
        if (errand.together) {
            replies.push_back({take_together(errand)});
            count += errand.checks.size();
        } else {
            replies.emplace_back(next, next + size);
            next += size;
        }
    }
    world_.metrics.store_called(count, world_.runtime.now() - began);
    return replies;
}

}  // namespace sluice
