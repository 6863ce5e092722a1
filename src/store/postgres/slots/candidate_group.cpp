#include "store/postgres/slots/candidate_group.hpp"

#include <algorithm>

namespace sluice::postgres {

std::vector<Candidate*> pointers_to(std::vector<Candidate>& candidates) {
    std::vector<Candidate*> pointers;
    pointers.reserve(candidates.size());
    for (Candidate& candidate : candidates) {
        pointers.push_back(&candidate);
    }
    return pointers;
}

std::vector<Candidate*> undecided(std::span<Candidate*> group) {
    std::vector<Candidate*> rest;
    std::ranges::copy_if(group, std::back_inserter(rest),
                         [](const Candidate* candidate) { return !candidate->outcome; });
    return rest;
}

void refuse_rest(std::span<Candidate*> group, const SlotError& error) {
    for (Candidate* candidate : group) {
        if (!candidate->outcome) {
            candidate->decide(Unexpected{error});
        }
    }
}

const Candidate* first_refused(std::span<Candidate*> group) {
    const Candidate* first = nullptr;
    for (const Candidate* one : group) {
        if (one->refused != nullptr && (first == nullptr || one->refused < first->refused)) {
            first = one;
        }
    }
    return first;
}

bool is_settled(std::span<Candidate*> group) {
    const Candidate* refused = first_refused(group);
    return std::ranges::none_of(group, [&](const Candidate* one) {
        return !one->outcome && (refused == nullptr || one->command < refused->refused);
    });
}

bool is_new(const Candidate& candidate) {
    return !candidate.outcome || (candidate.outcome->has_value() && !(*candidate.outcome)->repeated);
}

WindowGrid grid_of(std::span<Candidate*> group, const PoolName& pool) {
    const auto found = std::ranges::find_if(group, [&](const Candidate* one) {
        return one->config != nullptr && one->config->terms.pool == pool;
    });
    return (*found)->config->policy().grid;
}

std::map<PoolName, const Candidate*> furthest_placed(std::span<Candidate*> group) {
    std::map<PoolName, const Candidate*> furthest;
    for (const Candidate* one : group) {
        if (one->config != nullptr && one->outcome && one->outcome->has_value() &&
            !(*one->outcome)->repeated) {
            const auto [last, _] = furthest.try_emplace(one->config->terms.pool, one);
            if ((*last->second->outcome)->slot.window_start < (*one->outcome)->slot.window_start) {
                last->second = one;
            }
        }
    }
    return furthest;
}

}  // namespace sluice::postgres
