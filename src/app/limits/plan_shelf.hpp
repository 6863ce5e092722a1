#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/limits/limit_store.hpp"

namespace sluice {

// Where administrators' plans lie for all nodes that share a store, as texts of words_of().
// Thread safety: all of it. Every call blocks until it is done; after Unavailable it may have been.
class PlanShelf {
public:
    struct Entry {
        std::string name;
        std::string words;
    };

    virtual ~PlanShelf() = default;
    // Replaces what is there under that name.
    virtual Result<void, LimitFault> put_plan(std::string_view name, std::string_view words) = 0;
    virtual Result<void, LimitFault> remove_plan(std::string_view name) = 0;
    // In any order.
    virtual Result<std::vector<Entry>, LimitFault> all_plans() = 0;
};

// A plan's fields, but for its name, as words: `algorithm=token_bucket capacity=10 refill=1/s`.
// REQUIRES: make_plan() takes the draft.
std::string words_of(const PlanDraft& draft);
// None: it was written by a version that knows more.
std::optional<PlanDraft> draft_of_words(std::string_view name, std::string_view words);

}  // namespace sluice
