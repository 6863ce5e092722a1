#pragma once

#include <optional>
#include <vector>

#include "app/limits/limit_store.hpp"
#include "store/redis/client/reply.hpp"

namespace sluice::redis {

// One key under one plan.
struct Link {
    std::string_view key;
    const Plan* plan;
    Tokens cost;
};
using Links = std::vector<Link>;

// Says what is wrong with a check, or adds its links.
std::optional<LimitFault> add_links(const Check& check, Links& links);

// The fault that a reply to so many words is, if it is one: an error of the server or the script, or a hash
// that another version wrote.
std::optional<LimitFault> fault_in(const std::optional<Reply>& reply, std::size_t size);

// What the script says to a check.
CheckOutcome verdict_in(const std::optional<Reply>& reply);

}  // namespace sluice::redis
